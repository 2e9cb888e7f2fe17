package dev.bourse.mail;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.icegreen.greenmail.util.GreenMail;
import com.icegreen.greenmail.util.GreenMailUtil;
import dev.bourse.core.FakeClock;
import dev.bourse.core.Ports;
import dev.bourse.core.Settings;
import dev.bourse.testing.LogCapture;
import dev.bourse.testing.MailServer;
import dev.bourse.testing.TestJobs;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import jakarta.mail.internet.MimeMessage;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Mail through a real SMTP server, and invalid mails. */
class SmtpMailTest {
  private static final Mail MAIL =
      new Mail(
          "alice@acme.example",
          "Sign in",
          "Open this:\n\nhttp://localhost/x?token=1\n",
          Duration.ofMinutes(15));

  private final Vertx vertx = Vertx.vertx();
  private final FakeClock clock = new FakeClock(0);

  @AfterEach
  void close() {
    vertx.close().await();
  }

  private static GreenMail server(int port) {
    return MailServer.smtp(port);
  }

  private SmtpServer relay(int port, long closeMillis) {
    return new SmtpServer(
        vertx,
        new MailConfig.Smtp("127.0.0.1", port, "", "", MailConfig.Security.NONE),
        "bourse@bourse.example",
        30_000,
        closeMillis,
        null);
  }

  private SmtpMail sender(int port, long pauseMillis) {
    return sender(relay(port, 100), pauseMillis);
  }

  private SmtpMail sender(SmtpServer relay, long pauseMillis) {
    SmtpMail sender =
        new SmtpMail(
            vertx, relay, List.of(pauseMillis), 20, clock, System::nanoTime, new Random(1));
    sender.start(TestJobs.of(vertx, clock));
    return sender;
  }

  @Test
  void aMailArrives() throws Exception {
    GreenMail server = server(0);
    server.start();
    try {
      SmtpMail sender = sender(server.getSmtp().getPort(), 60_000);
      assertTrue(sender.send(MAIL));
      assertTrue(server.waitForIncomingEmail(60_000, 1));
      MimeMessage arrived = server.getReceivedMessages()[0];
      assertEquals("Sign in", arrived.getSubject());
      assertEquals("bourse@bourse.example", arrived.getFrom()[0].toString());
      assertEquals("alice@acme.example", arrived.getAllRecipients()[0].toString());
      assertTrue(
          GreenMailUtil.getBody(arrived).contains("http://localhost/x?token"),
          GreenMailUtil.getBody(arrived));
      sender.close().await();
    } finally {
      server.stop();
    }
  }

  @Test
  void aMailIsTriedAgainWhileTheServerIsAway() throws Exception {
    int port = Ports.free();
    SmtpMail sender = sender(port, 50);
    assertTrue(sender.send(MAIL));
    GreenMail server = server(port);
    server.start();
    try {
      assertTrue(server.waitForIncomingEmail(60_000, 1));
      sender.close().await();
    } finally {
      server.stop();
    }
  }

  @Test
  void pastItsBoundTheQueueTakesNoMore() {
    SmtpMail sender = sender(1, 60_000);
    for (int i = 0; i < SmtpMail.MAX_WAITING; i++) {
      assertTrue(sender.send(MAIL));
    }
    assertFalse(sender.send(MAIL));
    sender.close().await();
  }

  @Test
  void itClosesWhileConnectionsAreRefused() {
    for (int round = 0; round < 300; round++) {
      SmtpMail sender = sender(1, 60_000);
      assertTrue(sender.send(MAIL));
      assertTrue(sender.send(MAIL));
      sender.close().await();
    }
  }

  @Test
  void itClosesWhileAServerIsSilent() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      silent.setSoTimeout(60_000);
      SmtpMail sender = sender(silent.getLocalPort(), 60_000);
      assertTrue(sender.send(MAIL));
      try (Socket connection = silent.accept()) {
        sender.close().await();
        assertTrue(connection.isConnected());
      }
    }
  }

  @Test
  void theClientStaysOpenWhileAnAttemptIsInProgress() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      silent.setSoTimeout(60_000);
      SmtpServer relay = relay(silent.getLocalPort(), 60_000);
      SmtpMail sender = sender(relay, 60_000);
      assertTrue(sender.send(MAIL));
      try (Socket first = silent.accept()) {
        sender.close().await();
        Future<Void> second = relay.deliver(MAIL, "id");
        try (Socket other = silent.accept()) {
          assertTrue(first.isConnected() && other.isConnected());
          assertFalse(second.isComplete());
        }
      }
    }
  }

  @Test
  void aMailWhoseAttemptFailsWhileTheServiceStopsIsLoggedAsDropped() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        LogCapture log = new LogCapture()) {
      silent.setSoTimeout(60_000);
      SmtpMail sender = sender(silent.getLocalPort(), 60_000);
      assertTrue(sender.send(MAIL));
      Future<Void> closed;
      try (Socket connection = silent.accept()) {
        closed = sender.close();
        assertTrue(connection.isConnected());
      }
      log.await("a mail was dropped because the service is stopping");
      closed.await();
    }
  }

  @Test
  void anAttemptAtASilentServerEndsWithItsConnectionAndTheClientCanBeClosed() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      silent.setSoTimeout(60_000);
      SmtpServer server =
          new SmtpServer(
              vertx,
              new MailConfig.Smtp(
                  "127.0.0.1", silent.getLocalPort(), "", "", MailConfig.Security.NONE),
              "bourse@bourse.example",
              // Long enough for the client to connect, also in a new process.
              1_500,
              60_000,
              null);
      Future<Void> delivered = server.deliver(MAIL, "id");
      try (Socket connection = silent.accept()) {
        connection.setSoTimeout(60_000);
        assertEquals(-1, connection.getInputStream().read());
      }
      assertTrue(delivered.transform(Future::succeededFuture).await().failed());
      server.close(Future.succeededFuture()).await();
    }
  }

  @Test
  void emailHeaderInjectionNoMailIsMadeOfMoreThanOneLine() {
    for (String to :
        List.of(
            "a@b.example\r\nBcc: c@d.example",
            "a@b.example\n",
            "a@b.example,c@d.example",
            "<a@b.example>",
            "a b@c.example",
            "@c.example")) {
      assertThrows(IllegalArgumentException.class, () -> new Mail(to, "s", "t", Mail.LASTING), to);
    }
    for (String subject : List.of("s\r\nBcc: c@d.example", "s\n", "s\0")) {
      assertThrows(
          IllegalArgumentException.class,
          () -> new Mail("a@b.example", subject, "t", Mail.LASTING),
          subject);
    }
    assertEquals("o'hara+1@b.example", new Mail("o'hara+1@b.example", "s", "t", Mail.LASTING).to());
  }

  @Test
  void aPasswordIsNotSentInTheClear() {
    Settings settings =
        new Settings(
            Map.of(
                "mail.smtp.host", "mail.example",
                "mail.smtp.user", "u",
                "mail.smtp.password", "p",
                "mail.smtp.tls", "none"),
            Map.of());
    MailConfig.from(settings);
    assertEquals(
        List.of(
            "mail.smtp.tls: 'none' is not acceptable; expected starttls or implicit: a password"
                + " must not be readable"),
        settings.faults());
  }

  @Test
  void withoutAServerThereIsNone() {
    Settings settings = new Settings(Map.of(), Map.of());
    assertEquals(Optional.empty(), MailConfig.from(settings).smtp());
    assertEquals(List.of(), settings.faults());
  }
}
