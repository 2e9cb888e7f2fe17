package dev.bourse.testing;

import io.vertx.core.json.JsonObject;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** A client that follows a stream of server-sent events until it is closed or the stream ends. */
public final class EventReader implements AutoCloseable {
  private static final String VM = "/api/vm/events";

  private final String stream;
  private final InputStream body;
  private final Thread thread;
  private final List<Event> events = new CopyOnWriteArrayList<>();
  private volatile boolean ended;
  private volatile @Nullable AssertionError fault;

  /** One event. */
  public record Event(long id, String name, JsonObject data) {}

  /**
   * Opens a stream, which must succeed.
   *
   * @param lastEventId null for a client that comes for the first time
   */
  public EventReader(String baseUrl, String token, String cluster, @Nullable Long lastEventId) {
    this(VM, baseUrl, cluster, lastEventId, "Authorization", "Bearer " + token);
  }

  /** The stream of a Kubernetes cluster. */
  public static EventReader onK8s(
      String baseUrl, String token, String cluster, @Nullable Long lastEventId) {
    return new EventReader(
        "/api/k8s/events", baseUrl, cluster, lastEventId, "Authorization", "Bearer " + token);
  }

  /** The stream of a browser that sends this cookie. */
  public static EventReader inBrowser(String baseUrl, String cookie, String cluster) {
    return new EventReader(VM, baseUrl, cluster, null, "Cookie", cookie);
  }

  private EventReader(
      String stream,
      String baseUrl,
      String cluster,
      @Nullable Long lastEventId,
      String... credential) {
    this.stream = stream;
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(baseUrl + stream + "?cluster=" + cluster))
            .headers(credential)
            .header("Accept", "text/event-stream");
    if (lastEventId != null) {
      request.header("Last-Event-ID", lastEventId.toString());
    }
    try {
      HttpResponse<InputStream> response =
          HttpClient.newBuilder()
              .version(HttpClient.Version.HTTP_1_1)
              .build()
              .send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
      if (response.statusCode() != 200) {
        throw new AssertionError("status " + response.statusCode());
      }
      body = response.body();
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
    thread = new Thread(this::read, "events of " + cluster);
    thread.start();
  }

  private void read() {
    try (BufferedReader in =
        new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8))) {
      long id = 0;
      String name = "message";
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        if (line.startsWith("id: ")) {
          id = Long.parseLong(line.substring(4));
        } else if (line.startsWith("event: ")) {
          name = line.substring(7);
        } else if (line.startsWith("data: ")) {
          JsonObject data = new JsonObject(line.substring(6));
          ContractCheck.checkEvent(stream, name, data);
          events.add(new Event(id, name, data));
        }
      }
    } catch (IOException closed) {
      // As good as its end.
    } catch (AssertionError e) {
      fault = e;
    }
    ended = true;
  }

  /** Whether the stream has ended. */
  public boolean hasEnded() {
    return ended;
  }

  /** All events so far. */
  public List<Event> all() {
    AssertionError found = fault;
    if (found != null) {
      throw found;
    }
    return List.copyOf(events);
  }

  /** The newest event so far. */
  public Event latest() {
    List<Event> read = all();
    return read.get(read.size() - 1);
  }

  /** The events of a name so far. */
  public List<Event> of(String name) {
    return all().stream().filter(e -> e.name().equals(name)).toList();
  }

  /** The state as the newest event tells it; empty before the first. */
  public JsonObject state() {
    List<Event> states = of("capacity");
    return states.isEmpty() ? new JsonObject() : states.get(states.size() - 1).data();
  }

  @Override
  public void close() {
    try {
      body.close();
      thread.join(5_000);
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
