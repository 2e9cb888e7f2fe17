-- serves-from: 42
-- The one site whose machines the bearer of an operator's token keeps, and nothing else; null for the platform.
ALTER TABLE operator_token ADD COLUMN site TEXT;
-- A process of the release before takes an operator's token for one that may do all. So one that may not (is_narrow)
-- has revoked_at from the start, and is refused there, and ended_at is when it was revoked in truth. Those that only
-- read and were minted before this step are as they were.
ALTER TABLE operator_token ADD COLUMN is_narrow INTEGER NOT NULL DEFAULT 0;
ALTER TABLE operator_token ADD COLUMN ended_at INTEGER;
