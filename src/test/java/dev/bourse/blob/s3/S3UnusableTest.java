package dev.bourse.blob.s3;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import dev.bourse.blob.StorageFaultException;
import dev.bourse.core.Ports;
import dev.bourse.testing.S3Server;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The errors of a start with an unusable object store. */
class S3UnusableTest {
  private final Path folder;

  S3UnusableTest(@TempDir Path folder) {
    this.folder = folder;
  }

  private S3Calls calls(String store, String secret) throws IOException {
    Path credentials =
        Files.writeString(
            folder.resolve("credentials"),
            "[default]\naws_access_key_id=%s\naws_secret_access_key=%s\n"
                .formatted(S3Server.ACCESS_KEY, secret));
    S3Config config = S3Config.parse(store, Optional.of(credentials));
    return new S3Calls(config, (operation, outcome, nanos) -> {});
  }

  private void assertUnusable(String store, String secret, String reason) throws IOException {
    try (S3Calls calls = calls(store, secret)) {
      S3UnusableException unusable = assertThrows(S3UnusableException.class, calls::check);
      String message = String.valueOf(unusable.getMessage());
      assertTrue(message.contains(reason), message);
    }
  }

  @Test
  void credentialsThatTheObjectStoreRefusesAreNamed() throws Exception {
    S3Server server = S3Server.s3proxy();
    assertUnusable(
        server.store(server.newBucket()), "another-secret", "rejects the credentials for bucket");
  }

  /** Simulates a changed secret key at the store while a process runs. */
  @Test
  void aCallWithoutBytesThatIsRefusedForItsSignatureNamesTheCredentials() throws Exception {
    S3Server server = S3Server.s3proxy();
    try (S3Calls calls = calls(server.store(server.newBucket()), "another-secret")) {
      StorageFaultException fault =
          assertThrows(StorageFaultException.class, () -> calls.get("k", 0, 1));
      assertFalse(fault instanceof UploadReceipt.AlteredException, fault::toString);
      String message = String.valueOf(fault.getMessage());
      assertTrue(message.contains("rejects the credentials for bucket"), message);
    }
  }

  @Test
  void anEndpointThatIsNoObjectStoreIsNamed() throws Exception {
    HttpServer other =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    other.createContext(
        "/",
        exchange -> {
          exchange.sendResponseHeaders(200, 2);
          exchange.getResponseBody().write(new byte[] {'o', 'k'});
          exchange.close();
        });
    other.start();
    try {
      assertUnusable(
          S3Server.store("models", other.getAddress().getPort()), "secret", "is not an S3 service");
    } finally {
      other.stop(0);
    }
  }

  @Test
  void anEndpointThatRefusesConnectionsIsNamed() throws Exception {
    int port = Ports.free();
    assertUnusable(
        S3Server.store("models", port),
        "secret",
        "s3://models/bourse/: http://127.0.0.1:" + port + " cannot be reached");
  }

  @Test
  void anEndpointThatAcceptsConnectionsAndDoesNotAnswerIsNamed() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      assertUnusable(
          S3Server.store("models", silent.getLocalPort()) + "&timeout=1",
          "secret",
          "accepts connections but does not answer");
    }
  }
}
