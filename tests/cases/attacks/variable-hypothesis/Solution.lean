-- `include` makes the hypothesis part of every theorem that follows.
variable (h : 2 + 2 = 5)
include h

theorem target : 2 + 2 = 5 := h
