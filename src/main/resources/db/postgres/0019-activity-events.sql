-- What happened to a cluster is a kind and its columns, no longer a text to be read again. Texts
-- that are none of these stay as they are. The release before still reads the text, and writes it
-- alone, so the columns may be empty.
ALTER TABLE activity ADD COLUMN event TEXT COLLATE "C";
ALTER TABLE activity ADD COLUMN public_ip TEXT COLLATE "C";
ALTER TABLE activity ADD COLUMN cause TEXT COLLATE "C";
UPDATE activity SET event = 'granted', public_ip = NULLIF(substr(note, 9), 'null')
  WHERE kind = 'action' AND substr(note, 1, 8) = 'granted ';
UPDATE activity SET event = 'released', public_ip = NULLIF(substr(note, 10), 'null')
  WHERE kind = 'action' AND substr(note, 1, 9) = 'released '
  AND reason IN ('outbid', 'scale-down', 'swap', 'hold', 'operator', 'unwound');
UPDATE activity SET event = 'unwound', public_ip = NULLIF(substr(note, 10, strpos(note, ' unwound: ') - 10), 'null'),
  cause = substr(note, strpos(note, ' unwound: ') + 10)
  WHERE kind = 'action' AND substr(note, 1, 9) = 'grant of ' AND note LIKE '% unwound: %';
UPDATE activity SET event = 'swap-lapsed', public_ip = NULLIF(substr(note, 9, length(note) - 15), 'null')
  WHERE kind = 'action' AND substr(note, 1, 8) = 'swap of ' AND note LIKE '% lapsed';
UPDATE activity SET event = 'swap-ended', public_ip = NULLIF(substr(note, 9, strpos(note, ' ended: ') - 9), 'null')
  WHERE kind = 'action' AND substr(note, 1, 8) = 'swap of '
  AND note LIKE '% ended: an operator pinned it';
UPDATE activity SET event = 'hold-lifted' WHERE kind = 'action' AND note = 'billing hold lifted';
UPDATE activity SET event = 'hold-' || substr(note, 14, strpos(note, ' because of ') - 14),
  cause = substr(note, strpos(note, ' because of ') + 12)
  WHERE kind = 'action' AND (substr(note, 1, 30) = 'billing hold grace because of '
  OR substr(note, 1, 31) = 'billing hold notice because of '
  OR substr(note, 1, 32) = 'billing hold enforce because of ');
