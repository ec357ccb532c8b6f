# indiff in a container: every command, and the audit in a browser behind a mounted folder.
#   docker build -t indiff .
#   docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/data" indiff audit plan.toml
#   docker run --rm --user "$(id -u):$(id -g)" -p 127.0.0.1:8000:8000 -e INDIFF_PASSWORD -v "$PWD:/data" indiff
# Without --user it runs as a user that is nobody else, and can read and write only what everybody can.
FROM python:3.13-slim
RUN useradd --create-home --uid 10001 indiff
WORKDIR /build
COPY pyproject.toml README.md LICENSE ./
COPY requirements/constraints.txt requirements/
COPY src src
RUN pip install --no-cache-dir --constraint requirements/constraints.txt '.[web]' && rm -rf /build
USER indiff
# Compiled once here, not at each start; whoever runs it may keep things in this home.
ENV HOME=/home/indiff
RUN python -m indiff.cli.warmup && chmod -R a+rwX /home/indiff
WORKDIR /data
EXPOSE 8000
ENTRYPOINT ["indiff"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8000", "--no-browser", "--folder", "/data", "--data-dir", "/home/indiff/kept"]
