-- serves-from: 42
-- What a machine said when it was last not prepared or not cleaned, for operators.
ALTER TABLE node ADD COLUMN failure TEXT COLLATE "C";
