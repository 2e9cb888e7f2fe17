package dev.bourse.mail;

import dev.bourse.core.FailureText;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;

/**
 * Talks to a mail server without logging in or sending: the greeting, EHLO, STARTTLS if configured,
 * QUIT. It uses the JDK's own sockets, because the mail client exposes none of this. Blocks.
 */
public final class SmtpProbe implements AutoCloseable {
  /** RFC 5321, section 4.5.3.1.5, allows 512; servers add words of their own. */
  private static final int LONGEST_LINE = 2_000;

  /** Lines of one answer; servers list some twenty extensions. */
  private static final int MOST_LINES = 100;

  private final MailConfig.Smtp server;
  private Socket socket;
  private InputStream in;

  /**
   * The server's answers.
   *
   * @param greeting its first line, of visible ASCII
   * @param isEncrypted whether mail would be encrypted in transit
   * @param offersLogin whether the server offers a login
   */
  public record Seen(String greeting, boolean isEncrypted, boolean offersLogin) {}

  private SmtpProbe(MailConfig.Smtp server, Socket socket) throws IOException {
    this.server = server;
    this.socket = socket;
    this.in = new BufferedInputStream(socket.getInputStream());
  }

  /**
   * Probes a server.
   *
   * @param timeoutMillis of the connection and of each answer
   * @throws IOException that says which step the server failed
   */
  public static Seen look(MailConfig.Smtp server, int timeoutMillis) throws IOException {
    return look(server, timeoutMillis, (SSLSocketFactory) SSLSocketFactory.getDefault());
  }

  static Seen look(MailConfig.Smtp server, int timeoutMillis, SSLSocketFactory tls)
      throws IOException {
    String place = server.host() + ':' + server.port();
    Socket socket = new Socket();
    try {
      socket.setSoTimeout(timeoutMillis);
      socket.connect(new InetSocketAddress(server.host(), server.port()), timeoutMillis);
      try (SmtpProbe probe = new SmtpProbe(server, socket)) {
        return probe.converse(tls);
      }
    } catch (SocketTimeoutException silent) {
      throw new IOException(place + " does not answer", silent);
    } catch (IOException e) {
      throw new IOException(place + ": " + FailureText.of(e), e);
    } finally {
      socket.close();
    }
  }

  private Seen converse(SSLSocketFactory tls) throws IOException {
    if (server.security() == MailConfig.Security.IMPLICIT) {
      encrypt(tls);
    }
    String greeting = expect("its greeting", 220).get(0);
    List<String> offers = hello();
    if (server.security() == MailConfig.Security.STARTTLS) {
      if (!offers.contains("STARTTLS")) {
        throw new IOException(
            "it does not offer STARTTLS, which mail.smtp.tls asks for; implicit TLS is usually on"
                + " port 465");
      }
      say("STARTTLS");
      expect("STARTTLS", 220);
      encrypt(tls);
      offers = hello();
    }
    say("QUIT");
    return new Seen(
        greeting,
        server.security() != MailConfig.Security.NONE,
        offers.stream().anyMatch(offer -> offer.equals("AUTH") || offer.startsWith("AUTH ")));
  }

  /** Returns the server's extensions, in capital letters. */
  private List<String> hello() throws IOException {
    // A client without a host name sends its address in brackets (RFC 5321, section 4.1.3).
    InetAddress own = socket.getLocalAddress();
    String address = own.getHostAddress().replaceAll("%.*", "");
    say("EHLO [" + (address.contains(":") ? "IPv6:" : "") + address + ']');
    return expect("EHLO", 250).stream().map(line -> line.toUpperCase(Locale.ROOT)).toList();
  }

  private void encrypt(SSLSocketFactory tls) throws IOException {
    try {
      SSLSocket encrypted =
          (SSLSocket) tls.createSocket(socket, server.host(), server.port(), true);
      SSLParameters parameters = encrypted.getSSLParameters();
      // The certificate must match this host, as it must when mail is sent.
      parameters.setEndpointIdentificationAlgorithm("HTTPS");
      encrypted.setSSLParameters(parameters);
      encrypted.startHandshake();
      socket = encrypted;
      in = new BufferedInputStream(encrypted.getInputStream());
    } catch (SocketTimeoutException silent) {
      throw silent;
    } catch (IOException e) {
      throw new IOException("TLS cannot be spoken with it: " + e.getMessage(), e);
    }
  }

  private void say(String command) throws IOException {
    socket.getOutputStream().write((command + "\r\n").getBytes(StandardCharsets.US_ASCII));
    socket.getOutputStream().flush();
  }

  /** Returns the lines of an answer without their codes. */
  private List<String> expect(String what, int code) throws IOException {
    List<String> lines = new ArrayList<>();
    while (lines.size() < MOST_LINES) {
      String line = readLine();
      if (!line.startsWith(String.valueOf(code))) {
        throw new IOException("it answers %s with '%s'".formatted(what, line));
      }
      lines.add(line.length() > 4 ? line.substring(4) : "");
      if (line.length() < 4 || line.charAt(3) != '-') {
        return lines;
      }
    }
    throw new IOException("its answer to %s has over %d lines".formatted(what, MOST_LINES));
  }

  /** Reads a line; characters that are not visible ASCII become question marks. */
  private String readLine() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int next = in.read(); next != '\n'; next = in.read()) {
      if (next < 0) {
        throw new EOFException("it hangs up");
      }
      if (line.size() == LONGEST_LINE) {
        throw new IOException("a line of its answer has over " + LONGEST_LINE + " bytes");
      }
      if (next != '\r') {
        line.write(next < ' ' || next > '~' ? '?' : next);
      }
    }
    return line.toString(StandardCharsets.US_ASCII);
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
