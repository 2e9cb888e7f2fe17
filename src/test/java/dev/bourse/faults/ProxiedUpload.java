package dev.bourse.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * A large file on its way through a proxy, sent by curl. A process that stops ends the request that
 * brings it; what it has taken by then stays, and the next request goes on from there.
 */
final class ProxiedUpload {
  private static final int MINUTES = 30;

  private final FaultWorld world;
  private final String proxy;
  private final String token;
  private final TestBytes bytes;
  private final FilePublication item;
  private final ExecutorService thread = Executors.newSingleThreadExecutor();
  private final Future<String> sending;

  /** Begins to send a file to a proxy, with the token of the member who publishes it. */
  ProxiedUpload(FaultWorld world, String proxy, String token, TestBytes bytes) {
    this.world = world;
    this.proxy = proxy;
    this.token = token;
    this.bytes = bytes;
    item = new FilePublication(world, token, "large-file", bytes, MINUTES);
    sending = thread.submit(this::send);
  }

  private String send() throws IOException, InterruptedException {
    Path file = bytes.write(world.folder().resolve(item.name()));
    item.announce();
    long began = System.nanoTime();
    int runs = new Programs(world.folder()).send(item, Programs.curl(file), proxy);
    item.commit();
    Files.delete(file);
    return "%d MiB were published in %d s by %d runs of curl"
        .formatted(
            item.length() / TestBytes.MIB,
            TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began),
            runs);
  }

  /** Waits until it is published, and reads it through the proxy; tells what it took. */
  String end() throws Exception {
    try {
      String told = sending.get(MINUTES, TimeUnit.MINUTES);
      String read = Http.sha256(proxy, "/api/checkpoints/" + item.id() + "/content", token);
      if (!read.equals(bytes.sha256())) {
        throw new ViolatedException(
            "what is read of " + item.name() + " is not what was sent: " + read);
      }
      return told;
    } finally {
      thread.shutdownNow();
    }
  }
}
