-- Applications that act for members, and what members allowed them.

-- An application that registered itself. Unused ones go after a day.
CREATE TABLE oauth_client (
  client_id TEXT COLLATE "C" PRIMARY KEY,
  name TEXT COLLATE "C" NOT NULL,
  redirect_uris TEXT COLLATE "C" NOT NULL,
  grant_types TEXT COLLATE "C" NOT NULL,
  created_at BIGINT NOT NULL,
  used_at BIGINT
);
CREATE INDEX oauth_client_age ON oauth_client (used_at, created_at);

-- What a member allowed an application. begun_at is when it got its first token.
CREATE TABLE oauth_grant (
  grant_id TEXT COLLATE "C" PRIMARY KEY,
  org_id TEXT COLLATE "C" NOT NULL,
  username TEXT COLLATE "C" NOT NULL,
  client_id TEXT COLLATE "C" NOT NULL,
  client_name TEXT COLLATE "C" NOT NULL,
  scopes TEXT COLLATE "C" NOT NULL,
  resource TEXT COLLATE "C" NOT NULL,
  refreshable BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  begun_at BIGINT,
  idle_until BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  revoked_at BIGINT
);
CREATE INDEX oauth_grant_of_member ON oauth_grant (org_id, username, created_at);
CREATE INDEX oauth_grant_idle ON oauth_grant (idle_until);

CREATE TABLE oauth_code (
  code_sha256 TEXT COLLATE "C" PRIMARY KEY,
  grant_id TEXT COLLATE "C" NOT NULL REFERENCES oauth_grant (grant_id),
  redirect_uri TEXT COLLATE "C" NOT NULL,
  challenge TEXT COLLATE "C" NOT NULL,
  expires_at BIGINT NOT NULL,
  used_at BIGINT
);
CREATE INDEX oauth_code_age ON oauth_code (expires_at);

-- Used ones stay for as long as one could have lain idle, so that a second use is noticed.
CREATE TABLE oauth_refresh (
  refresh_sha256 TEXT COLLATE "C" PRIMARY KEY,
  grant_id TEXT COLLATE "C" NOT NULL REFERENCES oauth_grant (grant_id),
  made_at BIGINT NOT NULL,
  used_at BIGINT
);
CREATE INDEX oauth_refresh_of_grant ON oauth_refresh (grant_id);
CREATE INDEX oauth_refresh_age ON oauth_refresh (used_at) WHERE used_at IS NOT NULL;

-- A device that asks for a member's permission; state is pending, allowed, denied or used.
CREATE TABLE oauth_device (
  device_sha256 TEXT COLLATE "C" PRIMARY KEY,
  user_code TEXT COLLATE "C" NOT NULL,
  client_id TEXT COLLATE "C" NOT NULL,
  scopes TEXT COLLATE "C" NOT NULL,
  resource TEXT COLLATE "C" NOT NULL,
  state TEXT COLLATE "C" NOT NULL,
  grant_id TEXT COLLATE "C",
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  next_poll_at BIGINT NOT NULL,
  interval_millis BIGINT NOT NULL
);
CREATE UNIQUE INDEX oauth_device_user_code ON oauth_device (user_code);
CREATE INDEX oauth_device_age ON oauth_device (expires_at);
