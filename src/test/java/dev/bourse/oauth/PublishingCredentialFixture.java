package dev.bourse.oauth;

import static dev.bourse.testing.FilesFixture.FAMILY;
import static dev.bourse.testing.FilesFixture.announce;
import static dev.bourse.testing.FilesFixture.bytes;
import static dev.bourse.testing.FilesFixture.freshName;
import static dev.bourse.testing.FilesFixture.item;
import static dev.bourse.testing.FilesFixture.path;
import static dev.bourse.testing.FilesFixture.publication;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.core.ErrorCode;
import dev.bourse.core.Times;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ClusterClient;
import dev.bourse.testing.HttpAnswer;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.SteppingClock;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** Members and jobs with publishing credentials, on a service whose clock the test steps. */
@SuppressWarnings("NullAway.Init") // JUnit calls the set-up before the tests.
abstract class PublishingCredentialFixture {
  static final String CREDENTIALS = "/api/console/credentials";
  static final long DAY = Duration.ofDays(1).toMillis();
  static final long MUCH = 1L << 30;

  private static final byte[] ALL = bytes(600_000, 7);

  static SteppingClock clock;
  static RunningBourse bourse;
  static ApiClient alice;
  static ApiClient anybody;

  @BeforeAll
  static void start() {
    clock = new SteppingClock();
    bourse = RunningBourse.demo(clock);
    alice = bourse.inSession("acme", "alice");
    anybody = bourse.with(null);
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  static JsonObject order(String name, long maxBytes) {
    return new JsonObject()
        .put("name", name)
        .put("expires_at", Times.rfc3339(clock.millis() + DAY))
        .put("max_bytes", maxBytes);
  }

  static JsonObject minted(ApiClient member, JsonObject order) {
    HttpAnswer answer = member.post(CREDENTIALS, order);
    assertEquals(201, answer.status(), () -> String.valueOf(answer.body()));
    return answer.json();
  }

  static JsonObject minted(long maxBytes) {
    return minted(alice, order("training", maxBytes));
  }

  static ApiClient job(JsonObject credential) {
    return bourse.with(credential.getString("token"));
  }

  static HttpAnswer revoke(JsonObject credential) {
    return alice.delete(CREDENTIALS + '/' + credential.getString("credential_id"));
  }

  static List<JsonObject> listed(ApiClient member) {
    return ClusterClient.objects(member.get(CREDENTIALS).ok().getJsonArray("credentials"));
  }

  static JsonObject listed(JsonObject credential) {
    return listed(alice).stream()
        .filter(one -> one.getString("credential_id").equals(credential.getString("credential_id")))
        .findFirst()
        .orElseThrow();
  }

  /** A member who joined for one test. */
  static ApiClient joined(String username) {
    HttpAnswer answer =
        bourse
            .operator()
            .post(
                "/api/operator/orgs/acme/members",
                new JsonObject()
                    .put("username", username)
                    .put("email", username + "@acme.example")
                    .put("name", username));
    assertEquals(201, answer.status(), () -> String.valueOf(answer.body()));
    return bourse.inSession("acme", username);
  }

  /** A resumable upload whose first half has arrived. */
  record Begun(String id, String session) {
    static Begun with(ApiClient job) {
      JsonObject announced =
          announce(job, publication(freshName(), ALL, "org").put("upload", "resumable"));
      Begun begun = new Begun(announced.getString("id"), path(announced.getString("session_url")));
      assertEquals(308, begun.send(0, 300_000).status());
      return begun;
    }

    HttpAnswer send(int from, int until) {
      return anybody.sendBytes(
          "PUT",
          session,
          Arrays.copyOfRange(ALL, from, until),
          "Content-Range",
          "bytes " + from + "-" + (until - 1) + "/" + ALL.length);
    }

    HttpAnswer rest() {
      return send(300_000, ALL.length);
    }

    HttpAnswer commit(ApiClient caller) {
      return caller.post(item(id) + "/commit", new JsonObject().put("bytes", ALL.length));
    }
  }

  /** What the credential began ends with it, and it begins nothing more. */
  static void hasEnded(ApiClient job, Begun begun) {
    job.post(FAMILY, publication(freshName(), bytes(10, 1), "org")).refused(ErrorCode.UNAUTHORIZED);
    RunningBourse.until("the upload ends", () -> begun.rest().status() == ErrorCode.GONE.status());
    RunningBourse.until(
        "the token ends", () -> begun.commit(job).status() == ErrorCode.UNAUTHORIZED.status());
  }
}
