package dev.bourse.capacity;

import dev.bourse.core.Page;
import dev.bourse.core.Price;
import dev.bourse.core.Times;
import dev.bourse.edge.Answer;
import dev.bourse.edge.Call;
import dev.bourse.edge.Operations;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The VM contract's operations. */
public final class CapacityRoutes {
  private static final double DEFAULT_HISTORY_HOURS = 24;

  private final CapacityService capacity;
  private final SshKeyService keys;

  public CapacityRoutes(CapacityService capacity, SshKeyService keys) {
    this.capacity = capacity;
    this.keys = keys;
  }

  public void bind(Operations operations) {
    operations
        .bind("readCapacity", this::readCapacity)
        .bind("declareCapacity", this::declareCapacity)
        .bind("previewCapacity", this::previewCapacity)
        .bind("swapNode", this::swapNode)
        .bind("listActivity", this::listActivity)
        .bind("readHistory", this::readHistory)
        .bind("listSshKeys", this::listSshKeys)
        .bind("addSshKey", this::addSshKey)
        .bind("revokeSshKey", this::revokeSshKey);
  }

  private Future<Answer> readCapacity(Call call) {
    return Future.succeededFuture(
        state(capacity.readCapacity(call.principal(), call.findText("cluster"))));
  }

  private Future<Answer> declareCapacity(Call call) {
    return capacity
        .declareCapacity(call.principal(), declared(call.body()))
        .map(CapacityRoutes::state);
  }

  private Future<Answer> previewCapacity(Call call) {
    return capacity
        .preview(call.principal(), declared(call.body()))
        .map(preview -> Answer.ok(preview.toJson()));
  }

  private static CapacityService.Declared declared(JsonObject body) {
    return new CapacityService.Declared(
        Optional.ofNullable(body.getString("cluster")),
        body.getInteger("max_gpus"),
        new BigDecimal(body.getNumber("max_price_per_gpu_hour").toString()),
        Optional.ofNullable(body.getJsonArray("release")).map(CapacityRoutes::texts),
        body.getLong("expected_version"));
  }

  private Future<Answer> swapNode(Call call) {
    JsonObject body = call.body();
    return capacity
        .swapNode(
            call.principal(),
            Optional.ofNullable(body.getString("cluster")),
            body.getString("node"))
        .map(
            swap ->
                Answer.ok(
                    new JsonObject()
                        .put("cluster", swap.cluster())
                        .put("node", swap.node())
                        .put("state", "swapping")
                        .put("requested_at", Times.rfc3339(swap.requestedAtMillis()))
                        .put("lapses_at", Times.rfc3339(swap.lapsesAtMillis()))
                        .put("version", swap.version())));
  }

  private Future<Answer> listActivity(Call call) {
    int page = Math.toIntExact(call.findInteger("page").orElse(0L));
    return capacity
        .listActivity(call.principal(), call.findText("cluster"), page, call.findText("who"))
        .map(CapacityRoutes::activity);
  }

  private static Answer activity(Page<ActivityStore.StoredActivity> page) {
    JsonArray entries = new JsonArray();
    for (ActivityStore.StoredActivity entry : page.items()) {
      Activity activity = entry.activity();
      entries.add(
          new JsonObject()
              .put("id", entry.id())
              .put("ts", Times.rfc3339(entry.atMillis()))
              .put("cluster", entry.cluster())
              .put("kind", activity.kind())
              .put("actor", activity.actor())
              .put("who", activity.kind().equals("request") ? activity.who() : null)
              .put("max_gpus", activity.maxGpus())
              .put("max_price_per_gpu_hour", Price.toUsdOrNull(activity.ceilingCents()))
              .put("note", activity.note())
              .put("reason", activity.reason()));
    }
    return Answer.ok(new JsonObject().put("entries", entries).put("more", page.more()));
  }

  private Future<Answer> readHistory(Call call) {
    double hours = call.findNumber("hours").orElse(DEFAULT_HISTORY_HOURS);
    return capacity
        .readHistory(call.principal(), call.findText("cluster"), hours)
        .map(CapacityRoutes::history);
  }

  private static Answer history(CapacityService.ClusterHistory past) {
    History history = past.history();
    int gpus = past.gpusPerNode();
    return Answer.ok(
        new JsonObject()
            .put("cluster", past.cluster())
            .put("t0", history.t0Seconds())
            .put("step", history.stepSeconds())
            .put("max_nodes", series(history.maxNodes(), nodes -> nodes))
            .put("granted", series(history.granted(), nodes -> nodes))
            .put("max_price", series(history.maxPriceCents(), cents -> Price.toUsd(cents * gpus)))
            .put("price", series(history.priceCents(), cents -> perNodeUsd(cents, gpus))));
  }

  /** A mean of cents has a fraction; six decimals keep it well under a micro-dollar. */
  private static double perNodeUsd(double cents, int gpusPerNode) {
    return Math.round(cents * gpusPerNode * 1e4) / 1e6;
  }

  private static <T> JsonArray series(
      List<? extends @Nullable T> values, Function<T, ? extends Object> shown) {
    JsonArray series = new JsonArray();
    for (T value : values) {
      if (value == null) {
        series.addNull();
      } else {
        series.add(shown.apply(value));
      }
    }
    return series;
  }

  private Future<Answer> listSshKeys(Call call) {
    JsonArray list = new JsonArray();
    keys.listSshKeys(call.principal(), call.text("org")).forEach(key -> list.add(key(key)));
    return Future.succeededFuture(Answer.ok(new JsonObject().put("keys", list)));
  }

  private Future<Answer> addSshKey(Call call) {
    JsonObject body = call.body();
    return keys.addSshKey(
            call.principal(),
            call.text("org"),
            body.getString("name"),
            body.getString("public_key"),
            body.getString("cluster"))
        .map(
            added ->
                added.isNew() ? Answer.created(key(added.key())) : Answer.ok(key(added.key())));
  }

  private Future<Answer> revokeSshKey(Call call) {
    return keys.revokeSshKey(call.principal(), call.text("org"), call.text("key_id"))
        .map(
            revoked ->
                Answer.ok(
                    new JsonObject()
                        .put("ok", true)
                        .put("key_id", revoked.keyId())
                        .put("revoked_at", Times.rfc3339(revoked.revokedAtMillis()))
                        .put("still_on", new JsonArray(revoked.stillOn()))));
  }

  private static JsonObject key(SshKey key) {
    return new JsonObject()
        .put("key_id", key.keyId())
        .put("name", key.name())
        .put("public_key", key.publicKey())
        .put("fingerprint", key.fingerprint())
        .put("cluster", key.cluster())
        .put("created_at", Times.rfc3339(key.createdAtMillis()))
        .put("created_by", key.createdBy());
  }

  private static Answer state(ClusterView view) {
    ClusterView.Encoded encoded = view.encoded();
    return Answer.encoded(encoded.json(), encoded.etag());
  }

  private static List<String> texts(JsonArray array) {
    return array.stream().map(String.class::cast).toList();
  }
}
