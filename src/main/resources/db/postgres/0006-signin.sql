-- How members sign in: links, sessions, and who is not to come back by a rule of a domain.

-- A one-time link, by the digest of its secret. An invitation's names its organization.
CREATE TABLE sign_in_link (
  link_sha256 TEXT COLLATE "C" PRIMARY KEY,
  email TEXT COLLATE "C" NOT NULL,
  org_id TEXT COLLATE "C",
  person_name TEXT COLLATE "C" NOT NULL,
  return_to TEXT COLLATE "C" NOT NULL,
  made_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  used_at BIGINT
);
CREATE INDEX sign_in_link_expiry ON sign_in_link (expires_at);

-- A browser that is signed in, by the digest of its cookie.
CREATE TABLE member_session (
  session_sha256 TEXT COLLATE "C" PRIMARY KEY,
  org_id TEXT COLLATE "C" NOT NULL REFERENCES org (org_id),
  username TEXT COLLATE "C" NOT NULL,
  created_at BIGINT NOT NULL,
  seen_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);
CREATE INDEX member_session_of_member ON member_session (org_id, username, created_at);
CREATE INDEX member_session_expiry ON member_session (expires_at);
CREATE INDEX member_session_seen ON member_session (seen_at);

CREATE TABLE removed_member (
  org_id TEXT COLLATE "C" NOT NULL REFERENCES org (org_id),
  email TEXT COLLATE "C" NOT NULL,
  removed_at BIGINT NOT NULL,
  PRIMARY KEY (org_id, email)
);

CREATE INDEX member_email ON member (lower(email));
CREATE INDEX join_rule_admits ON join_rule (value, kind);
