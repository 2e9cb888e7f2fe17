package dev.bourse.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import dev.bourse.store.Statement;
import dev.bourse.uploads.UploadFixture;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Whose an item is when usernames come and go, also by the hands of the version before. */
class OwnershipTest extends UploadFixture {
  private static final Statement REMOVE =
      Statement.of("DELETE FROM member WHERE username = 'alice'");

  private CheckpointService.Announced published(String fileName) throws Exception {
    CheckpointService.Announced announced = announce(fileName, BYTES, false);
    await(process().direct.put(member("alice"), announced.item().id(), source(BYTES)));
    return announced;
  }

  private boolean isShownAsTheirs(String id) throws Exception {
    return CheckpointView.own(await(process().checkpoints.get(LAB.orgId(), id)), principal("alice"))
        .getBoolean("can_delete");
  }

  private void anotherAliceComes() throws Exception {
    decide(REMOVE);
    clock.advance(1);
    decide(enlist("alice"));
  }

  @Test
  void whoGetsTheNameOfARemovedMemberGetsNoneOfTheirItems() throws Exception {
    String id = published("a.bin").item().id();
    assertTrue(isShownAsTheirs(id));
    anotherAliceComes();
    assertFalse(isShownAsTheirs(id));
    CheckpointService checkpoints = process().checkpoints;
    gone(checkpoints.delete(member("alice"), id));
    assertEquals(
        ErrorCode.CONFLICT,
        fails(
                ApiError.class,
                checkpoints.publish(
                    member("alice"), publication(Visibility.ORG, "a.bin", BYTES, false)))
            .code());
    String theirs = published("b.bin").item().id();
    assertTrue(isShownAsTheirs(theirs));
    await(checkpoints.delete(member("alice"), theirs));
  }

  @Test
  void whatTheVersionBeforeStoredIsItsCreatorsAndNobodyElses() throws Exception {
    String id = published("a.bin").item().id();
    Statement asBefore = Statement.of("UPDATE checkpoint SET creator_id = NULL");
    await(database.commit(List.of(asBefore)));
    assertTrue(isShownAsTheirs(id));
    anotherAliceComes();
    assertFalse(isShownAsTheirs(id));
    gone(process().checkpoints.delete(member("alice"), id));
  }

  @Test
  void anUploadIsNotGoneOnWithByWhoGetsTheName() throws Exception {
    for (boolean resumable : new boolean[] {true, false}) {
      CheckpointService.Announced announced = announce(resumable);
      anotherAliceComes();
      gone(process().direct.put(member("alice"), announced.item().id(), source(BYTES)));
      if (resumable) {
        gone(process().sessions.put(announced.session(), Optional.empty(), source(BYTES)));
      }
      clock.advance(2 * CONFIG.sessionMillis());
    }
  }

  @Test
  void theMigrationGivesItemsToWhoMadeThemAndKeepsTheNamesOfThoseWhoLeft() throws Exception {
    String left = published("left.bin").item().id();
    anotherAliceComes();
    String theirs = published("theirs.bin").item().id();
    await(
        database.commit(
            List.of(
                Statement.of("UPDATE checkpoint SET creator_id = NULL"),
                Statement.of("DELETE FROM given_username"),
                Statement.of(
                    "INSERT INTO token (token_id, org_id, name, secret_sha256, scopes, created_by,"
                        + " created_at) VALUES ('t', 'lab', 'n', 's', '', 'member:bob', 7)"),
                Statement.of(
                    "INSERT INTO audit (ts, org_id, actor, action, subject, detail, is_read)"
                        + " VALUES (8, 'lab', 'member:carol', 'member_join', 'lab', '', 0)"),
                Statement.of(
                    "INSERT INTO audit (ts, org_id, actor, action, subject, detail, is_read)"
                        + " VALUES (9, 'lab', 'operator:dan', 'rule_add', 'lab', '', 0)"))));
    await(database.commit(fillings()));
    assertEquals(
        List.of("alice", "bob", "carol"),
        texts("SELECT username FROM given_username WHERE org_id = 'lab' ORDER BY username"));
    assertEquals(
        List.of(theirs),
        texts("SELECT item_id FROM checkpoint WHERE creator_id IS NOT NULL"),
        left);
    assertTrue(isShownAsTheirs(theirs));
  }

  /** What the migration does with what it finds. */
  private static List<Statement> fillings() throws IOException {
    String index = resource("db/sqlite/migrations.index");
    String name =
        index
            .lines()
            .filter(line -> line.endsWith("-given-usernames.sql"))
            .findFirst()
            .orElseThrow();
    return Arrays.stream(resource("db/sqlite/" + name).split(";\n", -1))
        .map(statement -> statement.replaceAll("(?m)^--.*$", "").strip())
        .filter(sql -> sql.startsWith("INSERT") || sql.startsWith("UPDATE"))
        .map(Statement::of)
        .toList();
  }

  private static String resource(String path) throws IOException {
    try (InputStream in =
        Objects.requireNonNull(
            OwnershipTest.class.getClassLoader().getResourceAsStream(path), path)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
