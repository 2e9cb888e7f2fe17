package dev.bourse.blob.s3;

import java.io.IOException;
import software.amazon.awssdk.http.ExecutableHttpRequest;
import software.amazon.awssdk.http.HttpExecuteRequest;
import software.amazon.awssdk.http.HttpExecuteResponse;
import software.amazon.awssdk.http.SdkHttpClient;

/**
 * A client that closes the connection of a failed request. The JDK's client leaves that to garbage
 * collection, and until then the store waits for the rest of the body.
 */
final class ClosingHttp implements SdkHttpClient {
  private final SdkHttpClient client;

  ClosingHttp(SdkHttpClient client) {
    this.client = client;
  }

  @Override
  public ExecutableHttpRequest prepareRequest(HttpExecuteRequest request) {
    ExecutableHttpRequest prepared = client.prepareRequest(request);
    return new ExecutableHttpRequest() {
      @Override
      public HttpExecuteResponse call() throws IOException {
        try {
          return prepared.call();
        } catch (IOException | RuntimeException e) {
          prepared.abort();
          throw e;
        }
      }

      @Override
      public void abort() {
        prepared.abort();
      }
    };
  }

  @Override
  public String clientName() {
    return client.clientName();
  }

  @Override
  public void close() {
    client.close();
  }
}
