package dev.bourse.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;

/** A request whose caller was authenticated, and whose body the service still waits for. */
public final class HeldRequest implements AutoCloseable {
  private static final String CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n";

  private final Socket socket;
  private final byte[] body;

  /**
   * Sends the head, and waits until the body is asked for.
   *
   * @param request the method and the path
   * @param headers lines of the head, the credential among them
   */
  public HeldRequest(String baseUrl, String request, byte[] body, String... headers) {
    this.body = body.clone();
    URI address = URI.create(baseUrl);
    try {
      socket = new Socket(address.getHost(), address.getPort());
      // A service that never answers fails the test instead of holding it.
      socket.setSoTimeout(60_000);
      String head =
          request
              + " HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nConnection: close\r\n"
              + String.join("\r\n", headers)
              + "\r\nContent-Length: "
              + body.length
              + "\r\n\r\n";
      socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
      InputStream in = socket.getInputStream();
      assertEquals(
          CONTINUE, new String(in.readNBytes(CONTINUE.length()), StandardCharsets.US_ASCII));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Of JSON, by a token. */
  public static HeldRequest of(String baseUrl, String token, String request, String body) {
    return new HeldRequest(
        baseUrl,
        request,
        body.getBytes(StandardCharsets.UTF_8),
        "Content-Type: application/json",
        "Authorization: Bearer " + token);
  }

  /** Sends the body. */
  public void send() {
    try {
      socket.getOutputStream().write(body);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the whole answer, with the status in its first line. */
  public String answer() {
    try {
      ByteArrayOutputStream all = new ByteArrayOutputStream();
      socket.getInputStream().transferTo(all);
      return all.toString(StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
