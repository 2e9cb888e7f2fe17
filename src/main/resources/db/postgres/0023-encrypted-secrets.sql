-- Secrets that every process on this store shares, encrypted with a secret key that is not in it;
-- key_id tells which, ciphertext is in base64.
CREATE TABLE encrypted_secret (
  name TEXT COLLATE "C" PRIMARY KEY,
  key_id TEXT COLLATE "C" NOT NULL,
  ciphertext TEXT COLLATE "C" NOT NULL,
  made_at BIGINT NOT NULL
);
