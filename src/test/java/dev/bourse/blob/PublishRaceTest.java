package dev.bourse.blob;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.vertx.core.Future;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Two stores over one folder, as in two processes that end the same upload at the same time without
 * knowing of each other's calls.
 */
class PublishRaceTest extends BlobFixture {
  private static final int ROUNDS = 300;

  @Test
  void whoeverIsSecondFindsThePublicationDone() throws Exception {
    LocalBlobs other = open(SMALL);
    byte[] bytes = random(1, 1_000);
    for (int round = 0; round < ROUNDS; round++) {
      String name = "u" + round;
      String key = "k" + round;
      upload(name, bytes);
      await(Future.join(List.of(blobs.publish(name, key), other.publish(name, key))));
      assertArrayEquals(bytes, blob(key));
    }
    assertEquals(List.of(), files("uploads"));
    await(other.close());
  }
}
