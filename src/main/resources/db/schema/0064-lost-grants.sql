-- serves-from: 57
-- The allocation for which a machine was left as it is because the database does not know it, and how often operators
-- had retried the node's work by then. A later retry allows to wipe the machine.
ALTER TABLE node ADD COLUMN lost_grant TEXT;
ALTER TABLE node ADD COLUMN lost_grant_retry INTEGER;
