-- Applications that act for members, and what members allowed them.

-- An application that registered itself. Unused ones go after a day.
CREATE TABLE oauth_client (
  client_id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  redirect_uris TEXT NOT NULL,
  grant_types TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  used_at INTEGER
);
CREATE INDEX oauth_client_age ON oauth_client (used_at, created_at);

-- What a member allowed an application. begun_at is when it got its first token.
CREATE TABLE oauth_grant (
  grant_id TEXT PRIMARY KEY,
  org_id TEXT NOT NULL,
  username TEXT NOT NULL,
  client_id TEXT NOT NULL,
  client_name TEXT NOT NULL,
  scopes TEXT NOT NULL,
  resource TEXT NOT NULL,
  refreshable INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  begun_at INTEGER,
  idle_until INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  revoked_at INTEGER
);
CREATE INDEX oauth_grant_of_member ON oauth_grant (org_id, username, created_at);
CREATE INDEX oauth_grant_idle ON oauth_grant (idle_until);

CREATE TABLE oauth_code (
  code_sha256 TEXT PRIMARY KEY,
  grant_id TEXT NOT NULL REFERENCES oauth_grant (grant_id),
  redirect_uri TEXT NOT NULL,
  challenge TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at INTEGER
);
CREATE INDEX oauth_code_age ON oauth_code (expires_at);

-- Used ones stay for as long as one could have lain idle, so that a second use is noticed.
CREATE TABLE oauth_refresh (
  refresh_sha256 TEXT PRIMARY KEY,
  grant_id TEXT NOT NULL REFERENCES oauth_grant (grant_id),
  made_at INTEGER NOT NULL,
  used_at INTEGER
);
CREATE INDEX oauth_refresh_of_grant ON oauth_refresh (grant_id);
CREATE INDEX oauth_refresh_age ON oauth_refresh (used_at) WHERE used_at IS NOT NULL;

-- A device that asks for a member's permission; state is pending, allowed, denied or used.
CREATE TABLE oauth_device (
  device_sha256 TEXT PRIMARY KEY,
  user_code TEXT NOT NULL,
  client_id TEXT NOT NULL,
  scopes TEXT NOT NULL,
  resource TEXT NOT NULL,
  state TEXT NOT NULL,
  grant_id TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  next_poll_at INTEGER NOT NULL,
  interval_millis INTEGER NOT NULL
);
CREATE UNIQUE INDEX oauth_device_user_code ON oauth_device (user_code);
CREATE INDEX oauth_device_age ON oauth_device (expires_at);
