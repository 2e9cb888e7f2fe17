-- When the market gave up completing a minimum of nodes; the cluster stands back for a while after that.
ALTER TABLE cluster ADD COLUMN gang_unwound_at BIGINT;
