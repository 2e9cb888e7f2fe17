-- serves-from: 42
-- Since when an operator has a pool's market paused, who and why; null while it goes on. A process of the release
-- before knows nothing of it and goes on granting.
ALTER TABLE pool ADD COLUMN paused_at INTEGER;
ALTER TABLE pool ADD COLUMN paused_by TEXT;
ALTER TABLE pool ADD COLUMN pause_reason TEXT;
