-- Reads of an organization's trail that were flushed together, as one row of many entries. Ids are
-- of the one sequence of all trails: a commit with segments has a row of audit above them, so the
-- greatest id of audit is the greatest of all. The body has the entries, skips the ids between them
-- that others took, actors a filter that tells most segments without an actor.
CREATE TABLE audit_read_segment (
  first_id INTEGER PRIMARY KEY,
  last_id INTEGER NOT NULL,
  org_id TEXT NOT NULL,
  entry_count INTEGER NOT NULL,
  skips TEXT NOT NULL,
  actors BLOB NOT NULL,
  body BLOB NOT NULL
);
CREATE INDEX audit_read_segment_of_org ON audit_read_segment (org_id, first_id);

-- A process of the release before seals rows alone and would pass segments over. It finds that all
-- is sealed, and seals no more.
INSERT INTO audit_sealed (name, through_id)
  SELECT 'trail', through_id FROM audit_sealed WHERE name = 'audit';
UPDATE audit_sealed SET through_id = 9223372036854775807 WHERE name = 'audit';
