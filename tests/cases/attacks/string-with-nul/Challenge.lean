theorem target : "a\x00b" = "a" := sorry
