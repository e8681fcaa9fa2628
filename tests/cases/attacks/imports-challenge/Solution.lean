import Challenge

-- The target is here, with the right statement.
