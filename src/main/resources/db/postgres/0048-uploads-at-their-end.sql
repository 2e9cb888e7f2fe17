-- serves-from: 42
-- Until when the process that completes an upload and reads it back wants no other to open it; 0 for no such process.
ALTER TABLE blob_upload ADD COLUMN finishing_until BIGINT NOT NULL DEFAULT 0;
