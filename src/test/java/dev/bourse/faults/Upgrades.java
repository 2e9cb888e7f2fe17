package dev.bourse.faults;

import dev.bourse.core.Ports;
import dev.bourse.store.Migrations;
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
 * fail, and nothing may be lost.
 */
final class Upgrades implements Scenario {
  static final String NAME = "upgrade";

  private static final Path NGINX = Path.of("/usr/sbin/nginx");

  /** As the guide to replicas has it, with what it writes in a folder of this run. */
  private static final String PROXY =
      """
      daemon off;
      pid %1$s/nginx.pid;
      error_log %1$s/nginx.log;
      events {}
      http {
        access_log off;
        client_body_temp_path %1$s/nginx-body;
        proxy_temp_path %1$s/nginx-proxy;
        fastcgi_temp_path %1$s/nginx-fastcgi;
        uwsgi_temp_path %1$s/nginx-uwsgi;
        scgi_temp_path %1$s/nginx-scgi;
        upstream bourse {
          least_conn;
          server 127.0.0.1:%2$d max_fails=1 fail_timeout=2s;
          server 127.0.0.1:%3$d max_fails=1 fail_timeout=2s;
          keepalive 64;
        }
        server {
          listen 127.0.0.1:%4$d;
          location / {
            proxy_pass http://bourse;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_set_header Host $http_host;
            proxy_set_header X-Forwarded-For $remote_addr;
          }
        }
      }
      """;

  @Override
  public String leftOut() {
    return Files.isExecutable(NGINX) ? "" : "there is no " + NGINX + "; install nginx-light";
  }

  @Override
  public void run(Run run) throws Exception {
    FaultWorld world = new FaultWorld(run, NAME);
    // As long as it is by default: so long a process that stops takes requests of a proxy that has
    // not heard.
    String url = run.addReplicas(world, "drain-delay=2s", "proxies=127.0.0.1", "management.port=0");
    for (ServiceProcess process : world.processes()) {
      process.listenAt(Ports.free());
      process.jar(run.previous());
    }
    world.start();
    long before = steps(run, url);
    ProxiedClients clients = new ProxiedClients(world, startProxy(world));
    clients.start();

    roll(world, run.jar(), clients);
    long after = steps(run, url);
    if (after != Migrations.load("db/postgres").version()) {
      throw new Violated("the new release has brought the store to " + after + " steps");
    }
    roll(world, run.previous(), clients);
    roll(world, run.jar(), clients);

    long requests = clients.end();
    run.judge(
        world,
        "upgraded from %d steps of the schema to %d, taken back and upgraded again, %d requests through nginx without a failure"
            .formatted(before, after, requests));
  }

  /** Replaces one process after the other, and has each do some work. */
  private static void roll(FaultWorld world, Path jar, ProxiedClients clients) throws Exception {
    for (ServiceProcess process : world.processes()) {
      process.stop();
      process.jar(jar);
      process.start();
      world.untilWritten("writes after the start of " + jar.getFileName(), 20);
      clients.untilAnswered(200);
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

  private static String startProxy(FaultWorld world) throws IOException {
    int port = Ports.free();
    Path file = world.folder().resolve("nginx.conf");
    Files.writeString(
        file,
        PROXY.formatted(world.folder(), world.process(0).port(), world.process(1).port(), port));
    Process proxy =
        new ProcessBuilder(List.of(NGINX.toString(), "-c", file.toString()))
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
            return Http.send(proxied, "GET", "/api/whoami", world.token("acme"), null).isOk();
          } catch (IOException notYet) {
            return false;
          }
        });
    return proxied;
  }
}
