-- How members sign in: links, sessions, and who is not to come back by a rule of a domain.

-- A one-time link, by the digest of its secret. An invitation's names its organization.
CREATE TABLE sign_in_link (
  link_sha256 TEXT PRIMARY KEY,
  email TEXT NOT NULL,
  org_id TEXT,
  person_name TEXT NOT NULL,
  return_to TEXT NOT NULL,
  made_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at INTEGER
);
CREATE INDEX sign_in_link_expiry ON sign_in_link (expires_at);

-- A browser that is signed in, by the digest of its cookie.
CREATE TABLE member_session (
  session_sha256 TEXT PRIMARY KEY,
  org_id TEXT NOT NULL REFERENCES org (org_id),
  username TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  seen_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
);
CREATE INDEX member_session_of_member ON member_session (org_id, username, created_at);
CREATE INDEX member_session_expiry ON member_session (expires_at);
CREATE INDEX member_session_seen ON member_session (seen_at);

CREATE TABLE removed_member (
  org_id TEXT NOT NULL REFERENCES org (org_id),
  email TEXT NOT NULL,
  removed_at INTEGER NOT NULL,
  PRIMARY KEY (org_id, email)
);

CREATE INDEX member_email ON member (lower(email));
CREATE INDEX join_rule_admits ON join_rule (value, kind);
