-- A version of what changed, where it has one: who holds as much already need not read it. Empty in what processes of
-- the release before leave, which never look at it.
ALTER TABLE change_feed ADD COLUMN version BIGINT;
