-- What language models do for members.

-- Confirm tokens that were used, until they would have expired.
CREATE TABLE confirm_used (
  nonce TEXT COLLATE "C" PRIMARY KEY,
  expires_at BIGINT NOT NULL
);
CREATE INDEX confirm_used_expiry ON confirm_used (expires_at);

-- Sessions that were ended, by a digest of their id, until they would have expired.
CREATE TABLE mcp_session_ended (
  session_sha256 TEXT COLLATE "C" PRIMARY KEY,
  expires_at BIGINT NOT NULL
);
CREATE INDEX mcp_session_ended_expiry ON mcp_session_ended (expires_at);
