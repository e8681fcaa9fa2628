-- The full name is `Solution.target`.
namespace Solution
theorem target : 2 + 2 = 4 := rfl
end Solution
