package dev.bourse.mail;

import static dev.bourse.capacity.StoreFixture.eventually;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.core.FakeClock;
import dev.bourse.core.Ports;
import dev.bourse.testing.TestJobs;
import io.vertx.core.Vertx;
import io.vertx.core.net.SelfSignedCertificate;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.subethamail.smtp.auth.EasyAuthenticationHandlerFactory;
import org.subethamail.smtp.auth.LoginFailedException;
import org.subethamail.smtp.helper.SimpleMessageListener;
import org.subethamail.smtp.server.SMTPServer;

/** Mail through a real SMTP server that requires TLS and a password. */
class SmtpMailTlsTest {
  private static final String PASSWORD = "correct horse";
  private static final Mail MAIL =
      new Mail(
          "alice@acme.example",
          "Sign in",
          "Open this:\n\nhttp://localhost/x?token=1\n",
          Duration.ofSeconds(30));

  /** Longer than the mail is of use. */
  private static final Long NO_RETRY = 60_000L;

  /** The JDK's keytool creates one in a process of its own, which takes a second. */
  private static final SelfSignedCertificate CERTIFICATE =
      SelfSignedCertificate.create("localhost");

  private final Vertx vertx = Vertx.vertx();
  private final FakeClock clock = new FakeClock(0);
  private final List<String> delivered = new CopyOnWriteArrayList<>();
  private final List<String> logins = new CopyOnWriteArrayList<>();
  private @Nullable SMTPServer server;
  private @Nullable SmtpMail sender;

  @AfterEach
  void close() {
    if (sender != null) {
      sender.close().await();
    }
    if (server != null) {
      server.stop();
    }
    vertx.close().await();
  }

  @AfterAll
  static void deleteCertificate() {
    CERTIFICATE.delete();
  }

  private SSLContext tls() throws Exception {
    return tls(CERTIFICATE);
  }

  private SSLContext tls(SelfSignedCertificate certificate) throws Exception {
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(
        certificate.keyCertOptions().getKeyManagerFactory(vertx).getKeyManagers(), null, null);
    return context;
  }

  /** Starts a server that accepts mail with the password; returns its port. */
  private int serve(UnaryOperator<SMTPServer.Builder> security) throws Exception {
    return serve(0, security);
  }

  private int serve(int port, UnaryOperator<SMTPServer.Builder> security) throws Exception {
    SMTPServer started =
        security
            .apply(
                SMTPServer.port(port)
                    .bindAddress(InetAddress.getLoopbackAddress())
                    .hostName("localhost")
                    .requireAuth()
                    .authenticationHandlerFactory(
                        new EasyAuthenticationHandlerFactory(
                            (user, password, context) -> login(user, password)))
                    .simpleMessageListener(inbox()))
            .build();
    server = started;
    started.start();
    return started.getPortAllocated();
  }

  private void login(String user, String password) throws LoginFailedException {
    logins.add(user);
    if (!user.equals("bourse") || !password.equals(PASSWORD)) {
      throw new LoginFailedException();
    }
  }

  private SimpleMessageListener inbox() {
    return new SimpleMessageListener() {
      @Override
      public boolean accept(String from, String recipient) {
        return true;
      }

      @Override
      public void deliver(String from, String recipient, InputStream data) throws IOException {
        delivered.add(recipient + '\n' + new String(data.readAllBytes(), StandardCharsets.UTF_8));
      }
    };
  }

  private SmtpMail sender(
      String host, int port, String password, MailConfig.Security security, Long... pauses) {
    SmtpMail made =
        new SmtpMail(
            vertx,
            new SmtpServer(
                vertx,
                new MailConfig.Smtp(host, port, "bourse", password, security),
                "bourse@bourse.example",
                30_000,
                100,
                CERTIFICATE.trustOptions()),
            List.of(pauses),
            20,
            clock,
            System::nanoTime,
            new Random(1));
    made.start(TestJobs.of(vertx, clock));
    sender = made;
    return made;
  }

  private void arrives() throws Exception {
    eventually("the mail", () -> !delivered.isEmpty());
    assertTrue(delivered.get(0).startsWith("alice@acme.example\n"), delivered.get(0));
    assertTrue(delivered.get(0).contains("Subject: Sign in"), delivered.get(0));
    assertEquals(List.of("bourse"), logins);
  }

  /** Returns the log until a mail is given up. */
  private String givenUp(SmtpMail mail) throws Exception {
    PrintStream console = System.err;
    ByteArrayOutputStream log = new ByteArrayOutputStream();
    System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
    try {
      assertTrue(mail.send(MAIL));
      eventually(
          "given up",
          () ->
              log.toString(StandardCharsets.UTF_8).contains("a mail could not be sent in ")
                  || !delivered.isEmpty());
    } finally {
      System.setErr(console);
    }
    assertEquals(List.of(), delivered);
    return log.toString(StandardCharsets.UTF_8);
  }

  @Test
  void withStartTlsAndThePasswordAMailArrives() throws Exception {
    SSLContext tls = tls();
    int port = serve(made -> made.startTlsSocketFactory(tls).enableTLS().requireTLS());
    sender("localhost", port, PASSWORD, MailConfig.Security.STARTTLS, NO_RETRY).send(MAIL);
    arrives();
  }

  @Test
  void withTlsFromTheFirstByteAndThePasswordAMailArrives() throws Exception {
    SSLContext tls = tls();
    int port = serve(made -> made.serverSocketFactory(tls));
    sender("localhost", port, PASSWORD, MailConfig.Security.IMPLICIT, NO_RETRY).send(MAIL);
    arrives();
  }

  @Test
  void withAWrongPasswordTheMailIsGivenUpAndTheLogSaysWhyWithoutThePassword() throws Exception {
    SSLContext tls = tls();
    int port = serve(made -> made.startTlsSocketFactory(tls).enableTLS().requireTLS());
    String log =
        givenUp(
            sender("localhost", port, "wrong pass", MailConfig.Security.STARTTLS, 10L, NO_RETRY));
    assertTrue(log.contains("AUTH"), log);
    assertFalse(log.contains("wrong pass"), log);
    assertFalse(logins.isEmpty());
  }

  @Test
  void aServerWithoutStartTlsIsToldNeitherPasswordNorMail() throws Exception {
    int port = serve(made -> made.enableTLS(false));
    String log =
        givenUp(sender("localhost", port, PASSWORD, MailConfig.Security.STARTTLS, NO_RETRY));
    assertTrue(log.contains("STARTTLS"), log);
    assertEquals(List.of(), logins);
  }

  @Test
  void aServerWithAnothersCertificateIsToldNeitherPasswordNorMail() throws Exception {
    SSLContext tls = tls();
    int port = serve(made -> made.startTlsSocketFactory(tls).enableTLS().requireTLS());
    givenUp(sender("127.0.0.1", port, PASSWORD, MailConfig.Security.STARTTLS, NO_RETRY));
    assertEquals(List.of(), logins);
    Objects.requireNonNull(server).stop();
    port = serve(made -> made.serverSocketFactory(tls));
    givenUp(sender("127.0.0.1", port, PASSWORD, MailConfig.Security.IMPLICIT, NO_RETRY));
    assertEquals(List.of(), logins);
  }

  @Test
  void whatWaitedForAServerWithAnothersCertificateArrivesOnceThatIsMended() throws Exception {
    SelfSignedCertificate others = SelfSignedCertificate.create("localhost");
    SSLContext theirs = tls(others);
    // No other process takes it between the two servers.
    int port = Ports.free();
    serve(port, made -> made.startTlsSocketFactory(theirs).enableTLS().requireTLS());
    // More failures than concurrent connections; none of the connections leaks.
    String log =
        givenUp(
            sender(
                "localhost",
                port,
                PASSWORD,
                MailConfig.Security.STARTTLS,
                1L,
                1L,
                1L,
                1L,
                1L,
                NO_RETRY));
    assertTrue(log.contains("in 6 attempts"), log);
    Objects.requireNonNull(server).stop();
    SSLContext ours = tls();
    serve(port, made -> made.startTlsSocketFactory(ours).enableTLS().requireTLS());
    Objects.requireNonNull(sender).send(MAIL);
    arrives();
    others.delete();
  }
}
