package dev.bourse.org;

import static dev.bourse.testing.RunningBourse.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.access.Scope;
import dev.bourse.access.Token;
import dev.bourse.core.TokenSecret;
import dev.bourse.store.Statement;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ChildBourse;
import dev.bourse.testing.EachEngine;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/**
 * A process killed while members with many tokens are removed leaves each of them either as they
 * were, with all their tokens, or gone with every token revoked and every row written.
 */
@EachEngine
class OffboardingCrashTest {
  private static final int CRASHES = 5;
  private static final int MEMBERS = 3 * CRASHES;
  private static final int TOKENS = 150;

  /** A removal of so many tokens takes about as long. */
  private static final int BUSY_MILLIS = 40;

  private static final String MEMBERS_PATH = "/api/operator/orgs/acme/members/";

  private static final List<String> SETTINGS =
      List.of("port=0", "limits.requests-per-minute=0", "limits.edge-per-minute=0");

  private final long seed = System.nanoTime();
  private final Random random = new Random(seed);
  private final List<List<String>> secrets = new ArrayList<>();

  @Test
  void removalIsWholeOrNotAtAll() throws Exception {
    Path data = RunningBourse.newFolder();
    seedMembers(data);
    List<String> acknowledged = new ArrayList<>();
    int next = 0;
    for (int crash = 0; crash < CRASHES; crash++) {
      next = removeUntilKilled(data, next, acknowledged);
    }
    int whole = 0;
    int gone = 0;
    try (RunningBourse bourse = RunningBourse.over(data, SETTINGS.toArray(String[]::new))) {
      for (int member = 0; member < MEMBERS; member++) {
        if (assertWholeOrGone(bourse, member, acknowledged)) {
          gone++;
        } else {
          whole++;
        }
      }
    }
    assertTrue(gone >= acknowledged.size() && whole + gone == MEMBERS, "seed " + seed);
  }

  private static String username(int member) {
    return "leaver-" + member;
  }

  private void seedMembers(Path data) {
    RunningBourse bourse = RunningBourse.over(data, SETTINGS.toArray(String[]::new));
    for (int member = 0; member < MEMBERS; member++) {
      List<Statement> statements = new ArrayList<>();
      List<String> theirs = new ArrayList<>();
      statements.add(
          RosterStore.insert(
              Member.joining("acme", username(member), member + "@acme.example", "Leaver", 1)));
      for (int i = 0; i < TOKENS; i++) {
        TokenSecret secret = TokenSecret.mint(random);
        theirs.add(secret.text());
        statements.addAll(
            TokenStore.minted(
                new Token(
                    secret.tokenId(),
                    "acme",
                    "t" + i,
                    HexFormat.of().formatHex(secret.sha256()),
                    EnumSet.noneOf(Scope.class),
                    null,
                    "member:" + username(member),
                    1,
                    null),
                "operator:first"));
      }
      secrets.add(theirs);
      await(bourse.database().commit(statements));
    }
    bourse.stop();
  }

  /**
   * Removes up to two members, so that the process is warm, then kills it about the time it is busy
   * with the next. The first member it has not tried.
   */
  private int removeUntilKilled(Path data, int from, List<String> acknowledged) throws Exception {
    try (ChildBourse child = new ChildBourse(data, SETTINGS)) {
      ApiClient operator =
          new ApiClient(
              child.baseUrl(),
              new JsonObject(Files.readString(data.resolve("operator.json")))
                  .getString("operator_token"));
      int next = from;
      for (int i = random.nextInt(3); i > 0; i--) {
        operator.delete(MEMBERS_PATH + username(next)).ok();
        acknowledged.add(username(next++));
      }
      operator.get("/api/operator/orgs").ok();
      long pauseNanos = random.nextLong(TimeUnit.MILLISECONDS.toNanos(BUSY_MILLIS));
      Thread killer =
          new Thread(
              () -> {
                LockSupport.parkNanos(pauseNanos);
                child.kill();
              });
      killer.start();
      try {
        operator.exchange("DELETE", MEMBERS_PATH + username(next), null).ok();
        acknowledged.add(username(next));
      } catch (IOException killed) {
        // As it should be: nobody was told whether the member went before the process did.
      }
      killer.join(30_000);
      return next + 1;
    }
  }

  /** Whether the member is gone. */
  private boolean assertWholeOrGone(RunningBourse bourse, int member, List<String> acknowledged) {
    String username = username(member);
    boolean isThere =
        !await(
                bourse
                    .database()
                    .read(
                        "SELECT 1 FROM member WHERE org_id = 'acme' AND username = ?",
                        List.of(username),
                        row -> true))
            .isEmpty();
    assertTrue(!isThere || !acknowledged.contains(username), username + ", seed " + seed);
    int live = 0;
    for (String secret : secrets.get(member)) {
      live += bourse.with(secret).get("/api/whoami").status() == 200 ? 1 : 0;
    }
    long rows =
        bourse.audit("acme", false).stream()
            .filter(row -> row.actor().equals("system:offboard"))
            .filter(
                row ->
                    secrets.get(member).stream()
                        .anyMatch(
                            secret ->
                                row.detail()
                                    .startsWith("token_id=" + secret.split("_", -1)[1] + " ")))
            .count();
    long removals =
        bourse.audit("acme", false).stream()
            .filter(row -> row.action().equals("member_remove"))
            .filter(row -> row.detail().equals("username=" + username))
            .count();
    assertEquals(
        isThere ? List.of(TOKENS, 0L, 0L) : List.of(0, (long) TOKENS, 1L),
        List.of(live, rows, removals),
        username + ", seed " + seed);
    return !isThere;
  }
}
