package dev.bourse.app.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.testing.ChildBourse;
import dev.bourse.testing.OneEngine;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.TestStore;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.internal.VertxInternal;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process whose event loop has stopped ends; one that was stopped as a whole goes on. */
@OneEngine("nothing of it is the store's")
class WatchdogTest {
  @Test
  void aLoopThatDoesNotTurnIsNoticed() throws Exception {
    Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(2));
    CountDownLatch noticed = new CountDownLatch(1);
    CountDownLatch enough = new CountDownLatch(1);
    try {
      new Watchdog(((VertxInternal) vertx).nettyEventLoopGroup(), 200, noticed::countDown).start();
      vertx.runOnContext(
          turn -> {
            try {
              enough.await();
            } catch (InterruptedException ended) {
              Thread.currentThread().interrupt();
            }
          });
      assertTrue(noticed.await(60, TimeUnit.SECONDS));
    } finally {
      enough.countDown();
      vertx.close().await();
    }
  }

  @Test
  void aProcessWithALoopThatDoesNotTurnEndsWithACodeOfItsOwnAndOneLine(@TempDir Path folder)
      throws Exception {
    Path log = folder.resolve("log");
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty(
                    "surefire.test.class.path", System.getProperty("java.class.path")),
                StuckProcess.class.getName())
            .redirectError(log.toFile())
            .start();
    try {
      assertTrue(process.waitFor(60, TimeUnit.SECONDS));
    } finally {
      process.destroyForcibly();
    }
    assertEquals(70, process.exitValue());
    List<String> lines =
        Files.readAllLines(log).stream()
            .filter(line -> line.contains("event-loop-timeout"))
            .toList();
    assertEquals(1, lines.size(), Files.readString(log));
  }

  /** Watches itself as the service does, and blocks a loop for ever. */
  static final class StuckProcess {
    public static void main(String[] arguments) throws InterruptedException {
      Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1));
      ServeCommand.watch(vertx, 500);
      CountDownLatch never = new CountDownLatch(1);
      vertx.runOnContext(
          turn -> {
            try {
              never.await();
            } catch (InterruptedException ended) {
              Thread.currentThread().interrupt();
            }
          });
      never.await();
    }
  }

  @Test
  void aProcessThatWasStoppedAsAWholeGoesOn() throws Exception {
    Path data = RunningBourse.newFolder();
    try (ChildBourse child =
        new ChildBourse(data, List.of("port=0", "event-loops=2", "event-loop-timeout=2s"))) {
      child.freeze();
      // Several times the limit; a shorter one would prove less and not be wrong.
      TimeUnit.SECONDS.sleep(8);
      child.thaw();
      for (int i = 0; i < 40; i++) {
        HttpResponse<Void> answer =
            HttpClient.newHttpClient()
                .send(
                    HttpRequest.newBuilder(URI.create(child.baseUrl() + "/api/whoami")).build(),
                    HttpResponse.BodyHandlers.discarding());
        assertEquals(401, answer.statusCode());
        TimeUnit.MILLISECONDS.sleep(100);
      }
      assertEquals(128 + 15, child.terminate());
    } finally {
      TestStore.delete(data);
    }
  }
}
