package dev.bourse.uploads;

import static dev.bourse.testing.FilesFixture.TYPE;
import static dev.bourse.testing.FilesFixture.announce;
import static dev.bourse.testing.FilesFixture.bytes;
import static dev.bourse.testing.FilesFixture.conflict;
import static dev.bourse.testing.FilesFixture.content;
import static dev.bourse.testing.FilesFixture.freshName;
import static dev.bourse.testing.FilesFixture.item;
import static dev.bourse.testing.FilesFixture.path;
import static dev.bourse.testing.FilesFixture.publication;
import static dev.bourse.testing.FilesFixture.put;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.edge.RawClient;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.FilesFixture;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.RunningBourse;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.URI;
import java.util.Arrays;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Bodies in chunks, whose length is not known in advance. */
@OneEngine("the store's engine does not affect how a body is read")
class ChunkedUploadApiTest {
  private static final byte[] BYTES = bytes(600_000, 1);

  private static RunningBourse bourse;
  private static ApiClient alice;

  @BeforeAll
  static void start() {
    bourse = RunningBourse.demo();
    alice = bourse.asMember("acme", "alice");
  }

  @AfterAll
  static void stop() {
    bourse.close();
  }

  private static String direct() {
    return announce(alice, publication(freshName(), BYTES, "org").put("upload", "direct"))
        .getString("id");
  }

  /** Sends the head of a request; the body may follow. */
  private static RawClient begin(String path, String... headers) throws IOException {
    RawClient client = new RawClient(URI.create(bourse.service().baseUrl()).getPort());
    client.send("PUT " + path + " HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n");
    client.send(String.join("\r\n", headers) + (headers.length > 0 ? "\r\n\r\n" : "\r\n"));
    return client;
  }

  private static RawClient beginDirect(String id) throws IOException {
    return begin(
        content(id),
        "Content-Type: " + TYPE,
        "Authorization: Bearer " + bourse.memberToken("acme", "alice"));
  }

  private static void chunk(RawClient client, byte[] bytes) throws IOException {
    client.send(Integer.toHexString(bytes.length) + "\r\n").send(bytes).send("\r\n");
  }

  private static void refused(int status, String words, RawClient client) throws IOException {
    String answer = client.untilClosed();
    assertTrue(answer.startsWith("HTTP/1.1 " + status + " "), answer);
    assertTrue(answer.contains(words), answer);
  }

  /** Asserts that nothing was kept and the announcement is still pending. */
  private static void awaitsItsBytes(String id) {
    assertEquals("pending", alice.get(item(id)).ok().getString("status"));
    conflict("object-missing", alice.get(content(id)));
    RunningBourse.until("nothing is kept", () -> bourse.files("uploads").isEmpty());
    put(alice, id, TYPE, BYTES).ok();
  }

  @Test
  void aDirectUploadIsCutOffAtTheFirstByteMoreThanAnnounced() throws IOException {
    String id = direct();
    try (RawClient client = beginDirect(id)) {
      chunk(client, BYTES);
      chunk(client, new byte[1]);
      // No further bytes and no end follow, because the answer waits for neither.
      refused(409, "size-mismatch", client);
    }
    awaitsItsBytes(id);
  }

  @Test
  void aDirectUploadThatEndsEarlyIsRefusedAndNothingKept() throws IOException {
    String id = direct();
    try (RawClient client = beginDirect(id)) {
      chunk(client, Arrays.copyOf(BYTES, BYTES.length - 1));
      client.send("0\r\nConnection: close\r\n\r\n");
      String answer = client.until("size-mismatch");
      assertTrue(answer.startsWith("HTTP/1.1 409 "), answer);
    }
    awaitsItsBytes(id);
  }

  @Test
  void aDirectUploadWhoseClientLeavesKeepsNothing() throws IOException {
    String id = direct();
    try (RawClient client = beginDirect(id)) {
      chunk(client, Arrays.copyOf(BYTES, 500_000));
      RunningBourse.until("bytes arrive", () -> !bourse.files("uploads").isEmpty());
    }
    awaitsItsBytes(id);
  }

  @Test
  void aDirectUploadOfExactlyWhatWasAnnouncedIsPublished() throws IOException {
    String id = direct();
    try (RawClient client = beginDirect(id)) {
      chunk(client, Arrays.copyOf(BYTES, 1));
      chunk(client, Arrays.copyOfRange(BYTES, 1, BYTES.length));
      client.send("0\r\n\r\n");
      client.until("\"ready\"");
    }
    assertEquals(
        FilesFixture.sha256(BYTES), FilesFixture.sha256(alice.fetch("GET", content(id)).body()));
  }

  @Test
  void aSessionsRequestIsCutOffAtTheFirstByteMoreThanAnnouncedOrThanItsRange() throws IOException {
    JsonObject announced =
        announce(alice, publication(freshName(), BYTES, "org").put("upload", "resumable"));
    String session = path(announced.getString("session_url"));
    try (RawClient client = begin(session)) {
      chunk(client, BYTES);
      chunk(client, new byte[1]);
      refused(409, "size-mismatch", client);
    }
    try (RawClient client = begin(session, "Content-Range: bytes 0-99/*")) {
      chunk(client, Arrays.copyOf(BYTES, 101));
      refused(422, "Content-Range", client);
    }
    bourse.with(null).sendBytes("PUT", session, BYTES).ok();
    alice
        .post(
            item(announced.getString("id")) + "/commit",
            new JsonObject().put("bytes", BYTES.length))
        .ok();
  }
}
