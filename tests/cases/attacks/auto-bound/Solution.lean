-- Without its definition `Point` is any type, and one assumes what is needed of it.
set_option autoImplicit true
set_option relaxedAutoImplicit true

theorem target [Subsingleton Point] (p q : Point) : p = q := Subsingleton.elim p q
