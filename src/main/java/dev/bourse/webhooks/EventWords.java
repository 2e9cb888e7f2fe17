package dev.bourse.webhooks;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Says in one sentence for people what an event reports. */
public final class EventWords {
  /**
   * Characters of a sentence. The longest parts are details of the trail, and a reader opens the
   * trail for those. Slack accepts 40,000.
   */
  private static final int MOST = 1_000;

  private static final int MINUTES = "2026-03-01T10:00".length();

  private EventWords() {}

  /**
   * Returns the sentence of an event: one line without control characters.
   *
   * @param body a body that {@link WebhookEvent#body} made; fields that are missing are left out
   */
  public static String sentence(JsonObject body) {
    String type = text(body, "type");
    JsonObject data = body.getJsonObject("data", new JsonObject());
    String sentence =
        data.containsKey("cluster")
            ? text(data, "cluster") + ": " + ofCluster(type, data)
            : ofOrganization(type, data);
    String line = sentence.replaceAll("\\p{C}+", " ");
    return line.length() <= MOST ? line : line.substring(0, MOST) + "…";
  }

  private static String ofCluster(String type, JsonObject data) {
    String node = node(data);
    return switch (type) {
      case "grant" -> node + " was granted and is being prepared.";
      case "notice" ->
          "%s will be reclaimed at %s (%s)."
              .formatted(node, time(data, "reclaim_at"), text(data, "reason"));
      case "notice-withdrawn" -> node + " stays. Its notice was withdrawn.";
      case "reclaim" -> "%s is being reclaimed (%s).".formatted(node, text(data, "reason"));
      case "lapse" ->
          text(data, "reason").equals("spent")
              ? "the declaration ended because its budget is used up."
              : "the declaration ended because its time is over.";
      case "hold" -> hold(data);
      case "alert" -> "alert: %s.".formatted(text(data, "detail"));
      case "health" -> health(node, data);
      default -> "event %s.".formatted(type);
    };
  }

  private static String hold(JsonObject data) {
    String detail = detail(data);
    return switch (text(data, "stage")) {
      case "lifted" -> "the billing hold was lifted.";
      case "enforce" -> "billing hold: nodes are being reclaimed" + detail;
      default -> "billing hold: no new nodes are granted" + detail;
    };
  }

  private static String detail(JsonObject data) {
    String detail = text(data, "detail");
    return detail.isEmpty() ? "." : " (%s).".formatted(detail);
  }

  private static String health(String node, JsonObject data) {
    if (!data.getBoolean("answers", true)) {
      return node + " does not answer the service.";
    }
    String health = text(data, "health");
    if (health.isEmpty()) {
      return node + " answers the service again.";
    }
    String reasons =
        data.getJsonArray("reasons", new JsonArray()).stream()
            .map(String::valueOf)
            .collect(Collectors.joining("; "));
    return reasons.isEmpty()
        ? "the health of %s is now %s.".formatted(node, health)
        : "the health of %s is now %s (%s).".formatted(node, health, reasons);
  }

  private static String ofOrganization(String type, JsonObject data) {
    return switch (type) {
      case "token-minted" -> "An API token was minted" + recorded(data);
      case "token-revoked" -> "An API token was revoked" + recorded(data);
      case "members-changed" -> "The members changed" + recorded(data);
      case "review-decided" -> "A checkpoint was reviewed" + recorded(data);
      case "statement-ready" -> "The statement for %s is final.".formatted(text(data, "month"));
      case EventKind.TEST -> "Test message, sent by %s.".formatted(text(data, "sent_by"));
      default -> "Event %s.".formatted(type);
    };
  }

  /** Returns the actor and the recorded arguments of a trail entry. */
  private static String recorded(JsonObject data) {
    return " by %s: %s (%s)."
        .formatted(text(data, "actor"), text(data, "action"), text(data, "detail"));
  }

  private static String node(JsonObject data) {
    String node = text(data, "public_ip") + text(data, "name");
    return node.isEmpty() ? "a node" : "node " + node;
  }

  private static String time(JsonObject data, String name) {
    String time = text(data, name);
    return time.length() < MINUTES ? time : time.substring(0, MINUTES).replace('T', ' ') + " UTC";
  }

  private static String text(JsonObject json, String name) {
    @Nullable Object value = json.getValue(name);
    return value == null ? "" : value.toString();
  }
}
