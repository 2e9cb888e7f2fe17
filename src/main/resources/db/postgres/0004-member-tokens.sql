-- What members' signed tokens stand on.

-- The public halves of the keys that any process on this store signs with; expires_at is when the
-- last token signed with one has expired.
CREATE TABLE signing_key (
  kid TEXT COLLATE "C" PRIMARY KEY,
  public_jwk TEXT COLLATE "C" NOT NULL,
  made_at BIGINT NOT NULL,
  retired_at BIGINT,
  expires_at BIGINT NOT NULL
);

-- Secrets that every process on this store has to agree on.
CREATE TABLE service_secret (
  name TEXT COLLATE "C" PRIMARY KEY,
  secret TEXT COLLATE "C" NOT NULL
);

-- Tokens that are refused though they have not expired; a row goes when they have.
CREATE TABLE revoked_grant (
  grant_id TEXT COLLATE "C" PRIMARY KEY,
  kept_until BIGINT NOT NULL
);
CREATE TABLE member_cutoff (
  org_id TEXT COLLATE "C" NOT NULL,
  username TEXT COLLATE "C" NOT NULL,
  issued_until BIGINT NOT NULL,
  kept_until BIGINT NOT NULL,
  PRIMARY KEY (org_id, username)
);
