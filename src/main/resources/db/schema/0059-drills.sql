-- serves-from: 57
-- When the last drill of a cluster was started, so that the process that works on its machines hears of it.
ALTER TABLE cluster ADD COLUMN drilled_at INTEGER;
