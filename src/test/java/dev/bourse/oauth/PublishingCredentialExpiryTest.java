package dev.bourse.oauth;

import static dev.bourse.testing.FilesFixture.FAMILY;
import static dev.bourse.testing.FilesFixture.bytes;
import static dev.bourse.testing.FilesFixture.freshName;
import static dev.bourse.testing.FilesFixture.publication;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.ErrorCode;
import dev.bourse.core.Times;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.OneEngine;
import io.vertx.core.json.JsonObject;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The end of publishing credentials by the clock. */
@OneEngine("the test steps the clock; a service on PostgreSQL asks the server for the time")
class PublishingCredentialExpiryTest extends PublishingCredentialFixture {
  @BeforeEach
  void signInAgain() {
    // Another test may have stepped the clock past the end of the session.
    alice = bourse.inSession("acme", "alice");
  }

  @Test
  void itExpiresWithItsUploads() {
    JsonObject credential =
        minted(
            alice,
            order("short", MUCH).put("expires_at", Times.rfc3339(clock.millis() + 3_600_000)));
    ApiClient job = job(credential);
    Begun begun = Begun.with(job);
    clock.step(3_600_000);
    hasEnded(job, begun);
    begun.commit(alice).refused(ErrorCode.UPLOAD_TIMEOUT);
  }

  @Test
  void aMemberMintsAtMostAHundredInADay() {
    ApiClient ivan = joined("ivan");
    long first = clock.millis();
    for (int i = 0; i < PublishingCredentials.MAX_A_DAY; i++) {
      String id = minted(ivan, order("job " + i, 1)).getString("credential_id");
      ivan.delete(CREDENTIALS + '/' + id).ok();
    }
    JsonObject refused = ivan.post(CREDENTIALS, order("more", 1)).refused(ErrorCode.CONFLICT);
    assertEquals("limit", refused.getString("reason"));
    String next = refused.getString("detail").replaceAll(".* at ", "");
    long possible = Times.parse(next).orElseThrow();
    assertTrue(possible >= first + DAY && possible <= clock.millis() + DAY, next);
    clock.step(DAY);
    minted(bourse.inSession("acme", "ivan"), order("next day", 1));
  }

  @Test
  void aRevokedOneStaysRevokedForItsWholeLife() {
    JsonObject credential =
        minted(
            alice, order("long", MUCH).put("expires_at", Times.rfc3339(clock.millis() + 3 * DAY)));
    revoke(credential).ok();
    clock.step(2 * DAY);
    job(credential)
        .post(FAMILY, publication(freshName(), bytes(10, 1), "org"))
        .refused(ErrorCode.UNAUTHORIZED);
  }
}
