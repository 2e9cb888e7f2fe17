-- Folders on disks of single processes, and since when and until when such a process has told of its.
CREATE TABLE scrub_folder (
  folder TEXT PRIMARY KEY,
  since INTEGER NOT NULL,
  told_at INTEGER NOT NULL
);

-- Which folders do not have a blob that is to be checked, as of when they were looked through.
CREATE TABLE scrub_absence (
  blob_key TEXT NOT NULL,
  folder TEXT NOT NULL,
  seen_at INTEGER NOT NULL,
  PRIMARY KEY (blob_key, folder)
);
