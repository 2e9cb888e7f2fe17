package dev.bourse.oauth;

import static dev.bourse.testing.FilesFixture.FAMILY;
import static dev.bourse.testing.FilesFixture.bytes;
import static dev.bourse.testing.FilesFixture.freshName;
import static dev.bourse.testing.FilesFixture.publication;

import dev.bourse.core.ErrorCode;
import dev.bourse.core.Times;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.OneEngine;
import io.vertx.core.json.JsonObject;
import org.junit.jupiter.api.Test;

/** The end of publishing credentials by the clock. */
@OneEngine("the test steps the clock; a service on PostgreSQL asks the server for the time")
class PublishingCredentialExpiryTest extends PublishingCredentialFixture {
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
