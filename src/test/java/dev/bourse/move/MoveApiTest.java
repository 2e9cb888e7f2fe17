package dev.bourse.move;

import static dev.bourse.testing.FilesFixture.bytes;
import static dev.bourse.testing.FilesFixture.content;
import static dev.bourse.testing.FilesFixture.freshName;
import static dev.bourse.testing.FilesFixture.publish;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.admin.AdminCommand;
import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.S3Server;
import dev.bourse.testing.Slow;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** A running service moves its files from its disk to an object store and back. */
@ReplayedOnPostgres
@SuppressWarnings("NullAway.Init") // JUnit gives the folder before each test.
class MoveApiTest {
  private static final String MOVE = "/api/operator/move";
  private static final byte[] BYTES = bytes(1_500_000, 3);
  private static final byte[] OTHERS = bytes(700, 4);

  @TempDir private Path folder;

  @Test
  @Slow("starts an object store and four services, one after the other")
  void filesGoFromTheDiskToAnObjectStoreAndBackAndAreReadableAllTheTime() throws Exception {
    S3Server objects = S3Server.s3proxy();
    String store = objects.store(objects.newBucket());
    String name = store.replaceFirst("\\?.*", "");
    String credentials = "checkpoints.s3-credentials-file=" + credentials();
    RunningBourse disk = RunningBourse.demo("checkpoints.deletion-delay=0");
    ApiClient alice = disk.asMember("acme", "alice");
    String first = publish(alice, freshName(), BYTES, "org").getString("id");
    disk.operator()
        .post(MOVE, new JsonObject().put("from", "local").put("to", name))
        .refused(ErrorCode.CONFLICT);
    assertEquals("none", disk.operator().get(MOVE).ok().getString("state"));

    RunningBourse there =
        disk.restartedWith(
            "checkpoints.deletion-delay=0",
            credentials,
            "checkpoints.store=" + store,
            "checkpoints.former-store=local");
    alice = there.asMember("acme", "alice");
    assertArrayEquals(BYTES, alice.fetch("GET", content(first)).body());
    String second = publish(alice, freshName(), OTHERS, "org").getString("id");
    move(there, "local", name);
    RunningBourse.until("the move has ended", () -> state(there).equals("ended"));
    RunningBourse.until("nothing is left on the disk", () -> there.files("blobs").isEmpty());
    assertArrayEquals(BYTES, alice.fetch("GET", content(first)).body());

    RunningBourse back =
        there.restartedWith(
            "checkpoints.deletion-delay=0", credentials, "checkpoints.former-store=" + store);
    alice = back.asMember("acme", "alice");
    assertArrayEquals(BYTES, alice.fetch("GET", content(first)).body());
    move(back, name, "local");
    RunningBourse.until("the move has ended", () -> state(back).equals("ended"));
    assertEquals(2, back.operator().get(MOVE).ok().getInteger("moved_blobs"));

    RunningBourse alone = back.restartedWith("checkpoints.deletion-delay=0");
    alice = alone.asMember("acme", "alice");
    assertArrayEquals(BYTES, alice.fetch("GET", content(first)).body());
    assertArrayEquals(OTHERS, alice.fetch("GET", content(second)).body());
    alone.close();
  }

  private Path credentials() throws IOException {
    return Files.writeString(
        folder.resolve("credentials"),
        "[default]\naws_access_key_id=%s\naws_secret_access_key=%s\n"
            .formatted(S3Server.ACCESS_KEY, S3Server.SECRET_KEY));
  }

  /** Runs the operator's command. */
  private static void move(RunningBourse bourse, String from, String to) {
    StringWriter told = new StringWriter();
    CommandLine line =
        AdminCommand.createNoun(
                "checkpoints",
                Map.of(
                    "BOURSE_URL", bourse.service().baseUrl(),
                    "BOURSE_OPERATOR_TOKEN", bourse.operatorToken()))
            .setOut(new PrintWriter(told))
            .setErr(new PrintWriter(told));
    int code = line.execute("move", "--from", from, "--to", to);
    assertEquals(0, code, told.toString());
  }

  private static String state(RunningBourse bourse) {
    return bourse.operator().get(MOVE).ok().getString("state");
  }
}
