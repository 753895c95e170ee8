# finpath's page to ask, as a user without rights:
#   docker build -t finpath . && docker run -p 127.0.0.1:8080:8080 -e FINPATH_TOKEN=$(openssl rand -hex 16) finpath
# `docker compose up` starts MLflow beside it.
FROM python:3.12-slim AS build
WORKDIR /src
COPY requirements.lock ./
RUN python -m venv /opt/finpath && /opt/finpath/bin/pip install --no-cache-dir --require-hashes -r requirements.lock
COPY . .
RUN /opt/finpath/bin/pip install --no-cache-dir '.[ui,mcp]'

FROM python:3.12-slim
COPY --from=build /opt/finpath /opt/finpath
RUN useradd --create-home finpath && install -d -o finpath /data
USER finpath
WORKDIR /data
ENV PATH=/opt/finpath/bin:$PATH FINPATH_CACHE=/data/cache
EXPOSE 8080
CMD ["finpath", "ui", "--host", "0.0.0.0"]
