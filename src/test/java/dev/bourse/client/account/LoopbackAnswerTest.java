package dev.bourse.client.account;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.remote.RefusedException;
import dev.bourse.testing.Slow;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The local port that receives the service's answer from the browser. */
@Tag("fast")
class LoopbackAnswerTest {
  /** A process like a command's, because the JDK's server reads its limits once in a process. */
  static final class Fresh {
    private Fresh() {}

    /** Prints the status of a visitor while requests of others never complete. */
    public static void main(String[] arguments)
        throws IOException, InterruptedException, RefusedException {
      List<Socket> halfSent = new ArrayList<>();
      try (LoopbackAnswer answer = LoopbackAnswer.open("state")) {
        URI address = URI.create(answer.address() + "?state=another");
        for (int i = 0; i < 6; i++) {
          Socket socket = new Socket(InetAddress.getLoopbackAddress(), address.getPort());
          halfSent.add(socket);
          socket.getOutputStream().write("GET / HT".getBytes(StandardCharsets.US_ASCII));
        }
        HttpRequest request =
            HttpRequest.newBuilder(address).timeout(Duration.ofSeconds(20)).build();
        System.out.print(
            HttpClient.newHttpClient()
                .send(request, HttpResponse.BodyHandlers.discarding())
                .statusCode());
      } finally {
        for (Socket socket : halfSent) {
          socket.close();
        }
      }
    }
  }

  @Test
  @Slow("the limit of incomplete requests is that of a JVM, so one of its own starts")
  void requestsThatNeverComeWholeDoNotKeepTheBrowserOut() throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                Fresh.class.getName())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try {
      String printed =
          new String(process.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
      assertEquals("400", printed);
    } finally {
      process.destroyForcibly();
    }
  }
}
