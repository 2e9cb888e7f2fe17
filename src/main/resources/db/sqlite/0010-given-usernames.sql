-- Whose things are, when usernames come and go; and where a sign-in that was asked for leads.

-- What a checkpoint's creator is known by: organization, username, and since when it is theirs. An item whose
-- creator is no more has none, whoever has the name now. Rows of the version before have none, either.
ALTER TABLE checkpoint ADD COLUMN creator_id TEXT;
UPDATE checkpoint SET creator_id = (SELECT m.org_id || '/' || m.username || '/' || m.created_at FROM member m
  WHERE m.org_id = checkpoint.org_id AND m.username = checkpoint.creator AND m.created_at <= checkpoint.created_at)
  WHERE org_id <> '';
UPDATE checkpoint SET creator_id = creator WHERE org_id = '';

-- Every username an organization ever gave, for none is given twice. Of members removed before this table, those
-- of whom anything is left.
CREATE TABLE given_username (
  org_id TEXT NOT NULL,
  username TEXT NOT NULL,
  given_at INTEGER NOT NULL,
  PRIMARY KEY (org_id, username)
);
INSERT INTO given_username (org_id, username, given_at)
  SELECT org_id, username, created_at FROM member WHERE 1 = 1 ON CONFLICT DO NOTHING;
INSERT INTO given_username (org_id, username, given_at)
  SELECT org_id, creator, MIN(created_at) FROM checkpoint WHERE org_id <> '' GROUP BY org_id, creator
  ON CONFLICT DO NOTHING;
INSERT INTO given_username (org_id, username, given_at)
  SELECT org_id, substr(created_by, 8), MIN(created_at) FROM token WHERE created_by LIKE 'member:%'
  GROUP BY org_id, created_by ON CONFLICT DO NOTHING;
INSERT INTO given_username (org_id, username, given_at)
  SELECT org_id, substr(created_by, 8), MIN(created_at) FROM ssh_key WHERE created_by LIKE 'member:%'
  GROUP BY org_id, created_by ON CONFLICT DO NOTHING;
INSERT INTO given_username (org_id, username, given_at)
  SELECT org_id, substr(actor, 8), MIN(ts) FROM audit
  WHERE actor >= 'member:' AND actor < 'member;' AND org_id <> '' GROUP BY org_id, actor ON CONFLICT DO NOTHING;

-- The browser that asked for a link, by a digest of its cookie: in no other one does the link lead to return_to.
ALTER TABLE sign_in_link ADD COLUMN asked_by TEXT;
