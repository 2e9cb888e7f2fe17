-- Secrets that every process on this store shares, encrypted with a secret key that is not in it;
-- key_id tells which, ciphertext is in base64.
CREATE TABLE encrypted_secret (
  name TEXT PRIMARY KEY,
  key_id TEXT NOT NULL,
  ciphertext TEXT NOT NULL,
  made_at INTEGER NOT NULL
);
