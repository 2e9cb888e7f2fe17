-- serves-from: 42
-- The reason, for operators, why a machine was last not prepared or not cleaned.
ALTER TABLE node ADD COLUMN failure TEXT COLLATE "C";
