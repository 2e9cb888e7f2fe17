-- Folders on disks of single processes, and since when and until when such a process has told of its.
CREATE TABLE scrub_folder (
  folder TEXT COLLATE "C" PRIMARY KEY,
  since BIGINT NOT NULL,
  told_at BIGINT NOT NULL
);

-- Which folders do not have a blob that is to be checked, as of when they were looked through.
CREATE TABLE scrub_absence (
  blob_key TEXT COLLATE "C" NOT NULL,
  folder TEXT COLLATE "C" NOT NULL,
  seen_at BIGINT NOT NULL,
  PRIMARY KEY (blob_key, folder)
);
