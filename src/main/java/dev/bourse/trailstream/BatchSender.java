package dev.bourse.trailstream;

import dev.bourse.audit.SealedBatch;
import dev.bourse.blob.s3.PresignedPut;
import dev.bourse.blob.s3.S3Config;
import dev.bourse.delivery.Attempt;
import dev.bourse.delivery.DeliveryClient;
import dev.bourse.delivery.SigningSecrets;
import dev.bourse.traces.Traces;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpMethod;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Makes one attempt to send a batch to a stream's destination.
 *
 * @param secrets signing keys of addresses, and credentials of object stores
 */
record BatchSender(Vertx vertx, SigningSecrets secrets, DeliveryClient client, Clock clock) {
  /** Prefix of the secrets in the store. */
  static final String SECRETS = "trail-stream/";

  /** Time-out from the look-up of the host to the head of the answer: 1 MB at 35 KB/s. */
  static final long ATTEMPT_MILLIS = 30_000;

  /** Concurrent attempts over all streams; each holds a batch of a few MB at most in memory. */
  static final int MAX_AT_ONCE = 16;

  private static final String TYPE = "application/x-ndjson";

  static DeliveryClient client(Vertx vertx, Set<String> privateHosts, Traces traces) {
    return new DeliveryClient(
        vertx,
        new HttpClientOptions(),
        new DeliveryClient.Terms(
            "trail streams",
            "Bourse-Trail/1",
            MAX_AT_ONCE,
            0,
            ATTEMPT_MILLIS,
            "https://siem.example.com/bourse or s3://bucket/prefix"),
        privateHosts,
        traces);
  }

  /** Returns the requirement that a destination violates; empty if the destination can be used. */
  Future<Optional<String>> refusal(String orgId, Destination destination) {
    return address(destination)
        .compose(
            address -> {
              String wrong = client.refusal(address);
              return wrong != null
                  ? Future.succeededFuture(Optional.of(wrong))
                  : client
                      .findUnreachable(orgId, address)
                      .map(found -> found.map(why -> "a reachable address: " + why));
            });
  }

  /** Returns the address that is called for a destination, without the signature's parameters. */
  private Future<String> address(Destination destination) {
    return destination
        .store()
        .map(
            store ->
                vertx.executeBlocking(
                    () -> {
                      String signed = PresignedPut.of(store, "-", "-", "-", "", TYPE).address();
                      return signed.substring(0, signed.indexOf('?'));
                    },
                    false))
        .orElseGet(() -> Future.succeededFuture(destination.text()));
  }

  /** Makes one attempt. Fails only if the secret cannot be read because the store is down. */
  Future<Attempt> send(TrailStream stream, SealedBatch batch) {
    return secrets
        .inForce(
            stream.streamId(),
            stream.secretVersion(),
            stream.oldSecretUntilMillis(),
            clock.millis())
        .compose(
            keys ->
                keys.isEmpty()
                    ? Future.succeededFuture(
                        new Attempt(null, "the stream's secret is lost; set the stream again"))
                    // Signing a megabyte takes milliseconds.
                    : vertx
                        .executeBlocking(() -> message(stream, batch, keys), false)
                        .compose(client::send));
  }

  private DeliveryClient.Message message(TrailStream stream, SealedBatch batch, List<byte[]> keys) {
    return stream
        .destination()
        .store()
        .map(store -> put(store, stream, batch, keys.get(0)))
        .orElseGet(() -> post(stream, batch, keys));
  }

  private static DeliveryClient.Message put(
      S3Config store, TrailStream stream, SealedBatch batch, byte[] secret) {
    PresignedPut put =
        PresignedPut.of(
            store,
            String.valueOf(stream.accessKeyId()),
            new String(secret, StandardCharsets.UTF_8),
            name(batch),
            PresignedPut.md5(batch.lines().getBytes()),
            TYPE);
    return new DeliveryClient.Message(HttpMethod.PUT, put.address(), put.headers(), batch.lines());
  }

  /**
   * Names a batch below the prefix, which several organizations may share; the names of an
   * organization's batches of a chain sort in order.
   */
  static String name(SealedBatch batch) {
    return "%s/%s/%012d.ndjson".formatted(batch.chain().orgId(), batch.chainName(), batch.batch());
  }

  private DeliveryClient.Message post(TrailStream stream, SealedBatch batch, List<byte[]> keys) {
    String id = "msg_trail_%s_%s_%s".formatted(stream.orgId(), batch.chainName(), batch.batch());
    return DeliveryClient.Message.signed(
        stream.destination().text(), TYPE, id, clock.millis(), keys, batch.lines());
  }
}
