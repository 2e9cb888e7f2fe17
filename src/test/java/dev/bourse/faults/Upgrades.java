package dev.bourse.faults;

import dev.bourse.core.Ports;
import dev.bourse.store.Migrations;
import dev.bourse.testing.S3Server;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

/**
 * A rolling upgrade behind nginx, and the way back: processes of the release before and of this one
 * serve one database, with clients at work all the time. No request that goes through the proxy may
 * fail, no upload begin anew, and nothing may be lost. nginx has the file that operators are given.
 *
 * <p>The environment says how many requests there are at least ({@code SMOKE_UPGRADE_REQUESTS}) and
 * how long the upload beside them is ({@code SMOKE_UPGRADE_MIB}).
 */
final class Upgrades implements Scenario {
  static final String NAME = "upgrade";

  private static final Path NGINX = Path.of("/usr/sbin/nginx");
  private static final String ORG = "acme";

  /** Each replaces both processes. */
  private static final int ROLLS = 3;

  @Override
  public String leftOut() {
    return Files.isExecutable(NGINX) ? "" : "there is no " + NGINX + "; install nginx-light";
  }

  @Override
  public int minutes() {
    return 60;
  }

  @Override
  public void run(Run run) throws Exception {
    FaultWorld world = new FaultWorld(run, NAME);
    int port = Ports.free();
    S3Server objects = S3Server.s3proxy();
    // As long as it is by default: so long a process that stops takes requests of a proxy that has
    // not heard.
    String url =
        run.addReplicas(
            world,
            objects.settings(
                objects.newBucket(),
                "base-url=http://127.0.0.1:" + port,
                "drain-delay=2s",
                "proxies=127.0.0.1",
                "checkpoints.deletion-delay=0",
                "management.port=0",
                // No request may fail, and a flush of a busy disk takes seconds.
                "store.connect-timeout=10s",
                "store.acquire-timeout=45s",
                "store.query-timeout=45s"));
    for (ServiceProcess process : world.processes()) {
      process.listenAt(Ports.free());
      process.jar(run.previous());
      // With it they share what signs members' tokens.
      process.environment("BOURSE_SECRET_KEY", "5".repeat(64));
    }
    world.start();
    long before = steps(run, url);
    String proxy = startProxy(run, world, port);
    String memberToken = world.memberToken(ORG, "alice");
    ProxiedClients clients = new ProxiedClients(world, proxy, memberToken);
    clients.start();
    long length = (long) Run.number("SMOKE_UPGRADE_MIB") * TestBytes.MIB;
    ProxiedUpload upload =
        new ProxiedUpload(world, proxy, memberToken, new TestBytes(length, run.seed()));

    int more = Run.number("SMOKE_UPGRADE_REQUESTS") / (ROLLS * world.processes().size());
    roll(world, run.jar(), clients, more);
    long after = steps(run, url);
    if (after != Migrations.load("db/schema").version()) {
      throw new ViolatedException("the new release has brought the store to " + after + " steps");
    }
    roll(world, run.previous(), clients, more);
    roll(world, run.jar(), clients, more);

    long requests = clients.end();
    System.out.println("faults: through nginx " + upload.end());
    run.judge(
        world,
        "upgraded from %d steps of the schema to %d, taken back and upgraded again, %d requests through nginx without a failure"
            .formatted(before, after, requests));
  }

  /** Replaces one process after the other, and has each do some work. */
  private static void roll(FaultWorld world, Path jar, ProxiedClients clients, int more)
      throws Exception {
    for (ServiceProcess process : world.processes()) {
      process.stop();
      process.jar(jar);
      process.start();
      world.untilWritten("writes after the start of " + jar.getFileName(), 20);
      clients.untilAnswered(more);
    }
  }

  private static long steps(Run run, String url) throws IOException, SQLException {
    try (Connection database = run.postgres().connect(url);
        Statement statement = database.createStatement();
        ResultSet rows = statement.executeQuery("SELECT MAX(number) FROM migration")) {
      rows.next();
      return rows.getLong(1);
    }
  }

  /** nginx with the file that operators are given, but for the ports in it. */
  private static String startProxy(Run run, FaultWorld world, int port) throws IOException {
    String given = Files.readString(run.conf("nginx.conf"));
    Path file = world.folder().resolve("nginx.conf");
    Files.writeString(
        file,
        given
            .replace("127.0.0.1:8080 ", "127.0.0.1:" + world.process(0).port() + " ")
            .replace("127.0.0.1:8082 ", "127.0.0.1:" + world.process(1).port() + " ")
            .replace("127.0.0.1:8090;", "127.0.0.1:" + port + ";"));
    Process proxy =
        new ProcessBuilder(
                List.of(NGINX.toString(), "-p", "" + world.folder(), "-c", file.toString()))
            .redirectErrorStream(true)
            .redirectOutput(world.folder().resolve("nginx.out").toFile())
            .start();
    Processes.atEnd(proxy::destroy);
    String proxied = "http://127.0.0.1:" + port;
    FaultWorld.until(
        "nginx answers",
        20,
        () -> {
          try {
            return Http.send(proxied, "GET", "/api/whoami", world.token(ORG), null).isOk();
          } catch (IOException notYet) {
            return false;
          }
        });
    return proxied;
  }
}
