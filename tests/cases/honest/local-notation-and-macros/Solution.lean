local infixr:35 " and_also " => And
macro "split_all" : tactic => `(tactic| refine ⟨?_, ?_, ?_⟩ <;> assumption)
syntax "the_proof" : term
macro_rules | `(the_proof) => `(by split_all)

theorem target (p q : Prop) (hp : p) (hq : q) : p and_also q and_also p := the_proof
