-- serves-from: 42
-- No two operators' tokens have the same name, so that a row of the trail tells whose it is. Of those that share one,
-- all but the newest get their id behind it. A process of the previous release that mints a taken name
-- fails.
UPDATE operator_token SET name = SUBSTR(name, 1, 50) || '-' || LOWER(token_id)
WHERE EXISTS (SELECT 1 FROM operator_token newer WHERE newer.name = operator_token.name
AND (newer.created_at > operator_token.created_at
OR (newer.created_at = operator_token.created_at AND newer.token_id > operator_token.token_id)));
CREATE UNIQUE INDEX operator_token_name ON operator_token (name);
