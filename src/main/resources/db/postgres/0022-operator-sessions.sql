-- A browser in which an operator is signed in, by the digest of its cookie.
CREATE TABLE operator_session (
  session_sha256 TEXT COLLATE "C" PRIMARY KEY,
  token_id TEXT COLLATE "C" NOT NULL REFERENCES operator_token (token_id),
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);
CREATE INDEX operator_session_of_token ON operator_session (token_id, created_at);
CREATE INDEX operator_session_expiry ON operator_session (expires_at);
